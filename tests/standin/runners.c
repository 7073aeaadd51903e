/*
 * The live runners that an orchestrator offers: those of its file, those that are posted to it while it runs, and those
 * that register themselves.
 *
 * In:  -liveRunnerConfig, POSTs of the same document to /registerLiveRunners, and heartbeats with -orchSecret. Out: what
 *      the node answers to them, and /discovery on -httpAddr.
 *
 * Like the node: the document counts whole or not at all, an entry with a known label replaces the one before it, one
 * that is left out stays, each is asked for its health before the answer, and only those that are well are discovered, on
 * a chain for whole wei. Whoever registers itself presents -orchSecret once, then the secret that it got, and is gone
 * when it sends no heartbeat any more.
 * Unlike the node: health is asked when somebody posts or discovers and never in between, of http alone and only by
 * address; there are no sessions and no channels; of an entry it checks label, routing, URLs, app, mode, capacity and the
 * number of its price; a runner that is gone is forgotten when somebody discovers or sends a heartbeat.
 */
#include "node.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct runner {
    const struct json *entry;
    char id[32], secret[33]; /* the secret is empty for one of a list */
    double heard;            /* when its last heartbeat came, in seconds of the monotonic clock */
    struct runner *next;     /* in the order in which they came */
};

static struct runner *runners;
static int listens; /* whether the node has a list at all */
static unsigned made;

static const char *text_in(const struct json *entry, const char *key, const char *usual) {
    const struct json *found = member(entry, key);
    return found != NULL && found->text != NULL && *found->text != '\0' ? found->text : usual;
}

static int is_true(const struct json *entry, const char *key) {
    const struct json *found = member(entry, key);
    return found != NULL && found->kind == 't';
}

static int is_url(const char *text) { return strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0; }

/* Where it is asked whether it is well; the caller frees it. */
static char *health_url(const struct json *entry) {
    const char *own = text_in(entry, "health_url", ""), *base = text_in(entry, "runner_url", "");
    char *url = NULL;
    int length = (int)strlen(base);
    while (*own == '/' && length > 0 && base[length - 1] == '/') length--;
    if (asprintf(&url, "%.*s%s", *own == '/' ? length : 0, base, own) < 0) abort();
    return url;
}

/* What a list and a heartbeat have to say alike. */
static const char *fault_in_work(const struct json *entry) {
    const char *mode = text_in(entry, "mode", "persistent");
    const struct json *price = member(entry, "price_info");
    if (!is_url(text_in(entry, "runner_url", ""))) return "invalid runner_url";
    if (*text_in(entry, "app", "") == '\0') return "app must be trimmed";
    if (strcmp(mode, "persistent") != 0 && strcmp(mode, "single-shot") != 0)
        return "mode must be \"persistent\" or \"single-shot\"";
    if (atol(text_in(entry, "capacity", "0")) < 0) return "capacity must be >= 0";
    if (on_chain() && (price == NULL || member(price, "price") == NULL)) return "price_info.price is required";
    if (on_chain() && atof(text_in(price, "price", "0")) <= 0) return "price_info.price must be a positive decimal";
    return NULL;
}

static const char *fault_in(const struct json *entry, const struct json *before) {
    const char *label = text_in(entry, "label", ""), *routing = text_in(entry, "routing", "runner-id");
    const char *wrong = fault_in_work(entry);
    char *health = health_url(entry);
    int asked = is_url(health);
    free(health);
    if (strcmp(routing, "runner-id") != 0 && strcmp(routing, "label") != 0) return "routing must be \"runner-id\" or \"label\"";
    if (*label == '\0') return "label is required and must be trimmed";
    if (*text_in(entry, "health_url", "") == '\0') return "health_url is required";
    if (!asked) return "invalid health_url";
    if (wrong != NULL) return wrong;
    for (; before != entry; before = before->next)
        if (strcmp(text_in(before, "label", ""), label) == 0) return "duplicate label";
    return NULL;
}

/* The status of an answer to a GET of an http URL by address, 0 without one. It waits three seconds at most. */
static int status_at(const char *url) {
    struct timeval patience = {.tv_sec = 3};
    struct sockaddr_in address = {.sin_family = AF_INET};
    char host[64] = "", line[64] = "", *request = NULL;
    int port = 80, begins = 0, status = 0;
    if (sscanf(url, "http://%63[0-9.]%n", host, &begins) != 1 || inet_pton(AF_INET, host, &address.sin_addr) != 1) return 0;
    const char *path = url + begins;
    if (*path == ':' && sscanf(path, ":%d%n", &port, &begins) == 1) path += begins;
    address.sin_port = htons((unsigned short)port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || asprintf(&request, "GET %s HTTP/1.0\r\nHost: %s\r\n\r\n", *path ? path : "/", host) < 0) abort();
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
        send(fd, request, strlen(request), MSG_NOSIGNAL) > 0 && recv(fd, line, sizeof line - 1, MSG_WAITALL) > 0)
        sscanf(line, "HTTP/1.%*d %d", &status);
    free(request);
    close(fd);
    return status;
}

static int wanted_status(const struct json *entry) {
    int status = atoi(text_in(entry, "healthy_status_code", "0"));
    return status != 0 ? status : 200;
}

static int is_well(const struct json *entry) {
    char *url = health_url(entry);
    int well = status_at(url) == wanted_status(entry);
    free(url);
    return well;
}

static struct runner *added(const struct json *entry) {
    struct runner **place = &runners;
    while (*place != NULL) place = &(*place)->next;
    if ((*place = calloc(1, sizeof **place)) == NULL) abort();
    (*place)->entry = entry;
    snprintf((*place)->id, sizeof(*place)->id, "runner_standin%u", ++made);
    return *place;
}

/* The one of a list with this label. */
static struct runner *labelled(const char *label) {
    struct runner *one = runners;
    while (one != NULL && (*one->secret != '\0' || strcmp(text_in(one->entry, "label", ""), label) != 0)) one = one->next;
    return one;
}

static void keep(const struct json *entry) {
    struct runner *known = labelled(text_in(entry, "label", ""));
    if (known == NULL) added(entry);
    else known->entry = entry;
}

/* The entries of a document, or NULL with a fault; there may be none of both. */
static const struct json *entries_of(const char *text, char *fault, size_t size) {
    const struct json *whole = read_json(text), *list = whole == NULL ? NULL : member(whole, "runners");
    *fault = '\0';
    if (whole == NULL || whole->kind != '{') snprintf(fault, size, "invalid JSON");
    int at = 0;
    for (const struct json *one = list == NULL ? NULL : list->first; one != NULL && *fault == '\0'; one = one->next) {
        const char *wrong = fault_in(one, list->first);
        if (wrong != NULL) snprintf(fault, size, "runners[%d]: %s", at, wrong);
        at++;
    }
    return *fault != '\0' || list == NULL ? NULL : list->first;
}

void prepare_runners(void) {
    char fault[160];
    listens = role() == ORCHESTRATOR && (given("liveRunnerConfig") || is_on("useLiveRunners"));
    if (role() != ORCHESTRATOR || !given("liveRunnerConfig")) return;
    char *file = whole_file(value_of("liveRunnerConfig"));
    if (file == NULL) end(1, "error reading -liveRunnerConfig: %s", value_of("liveRunnerConfig"));
    const struct json *first = entries_of(file, fault, sizeof fault);
    if (*fault != '\0') end(1, "error registering -liveRunnerConfig: %s", fault);
    for (; first != NULL; first = first->next) keep(first);
    free(file);
}

static void write_pair(FILE *out, const char *key, const char *text) {
    fprintf(out, ",\"%s\":", key);
    write_json_text(out, text);
}

static void write_registration(FILE *out, const struct json *entry) {
    const struct runner *known = labelled(text_in(entry, "label", ""));
    char *health = health_url(entry);
    fputs("{\"runner_id\":", out);
    write_json_text(out, known == NULL ? "runner_standin" : known->id);
    write_pair(out, "label", text_in(entry, "label", ""));
    write_pair(out, "app", text_in(entry, "app", ""));
    if (is_true(entry, "proxy")) fputs(",\"proxy\":true", out);
    write_pair(out, "runner_url", text_in(entry, "runner_url", ""));
    write_pair(out, "mode", text_in(entry, "mode", "persistent"));
    write_pair(out, "health_url", health);
    fprintf(out, ",\"healthy_status_code\":%d,\"healthy\":%s}", wanted_status(entry), is_well(entry) ? "true" : "false");
    free(health);
}

int register_runners(const struct request *request, FILE *out) {
    char fault[160];
    if (!listens) return refuse(out, 404, "live runners are not supported");
    if (strcmp(request->method, "POST") != 0) return refuse(out, 405, "Method not allowed");
    const struct json *first = entries_of(request->body, fault, sizeof fault);
    if (*fault != '\0') return refuse(out, 400, "%s", fault);
    fputs("{\"runners\":[", out);
    for (const struct json *one = first; one != NULL; one = one->next) {
        if (!request->only_claims) keep(one);
        if (one != first) fputc(',', out);
        write_registration(out, one);
    }
    fputs("]}", out);
    return 200;
}

/* Those that register themselves. */

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void remove_at(struct runner **place, const char *reason) {
    struct runner *gone = *place;
    say("live runner deregistered runner_id=%s app=%s reason=\"%s\"", gone->id, text_in(gone->entry, "app", ""), reason);
    *place = gone->next;
    free(gone);
}

static void forget_the_silent(void) {
    double patience = illness_now().forgets;
    for (struct runner **place = &runners; *place != NULL;) {
        if (*(*place)->secret != '\0' && now() - (*place)->heard > patience) remove_at(place, "heartbeat timeout");
        else place = &(*place)->next;
    }
}

static struct runner **with_id(const char *id, size_t length) {
    struct runner **place = &runners;
    while (*place != NULL && (strlen((*place)->id) != length || strncmp((*place)->id, id, length) != 0))
        place = &(*place)->next;
    return place;
}

/* Whether somebody presents the secret of the orchestrator, which is its flag's value or the text of that file. */
static int is_admitted(const char *presented) {
    char *file = whole_file(value_of("orchSecret"));
    const char *secret = file == NULL ? value_of("orchSecret") : file + strspn(file, " \t\r\n");
    size_t length = strlen(secret);
    while (file != NULL && length > 0 && strchr(" \t\r\n", secret[length - 1]) != NULL) length--;
    int same = length > 0 && strlen(presented) == length && strncmp(secret, presented, length) == 0;
    free(file);
    return same;
}

static void give_secret(struct runner *one) {
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) abort();
    for (size_t i = 0; i < sizeof bytes; i++) sprintf(one->secret + 2 * i, "%02x", bytes[i]);
}

int take_heartbeat(const struct request *request, FILE *out) {
    if (!listens) return refuse(out, 404, "live runners are not supported");
    if (strcmp(request->method, "POST") != 0) return refuse(out, 405, "Method not allowed");
    const struct json *entry = read_json(request->body);
    if (entry == NULL || entry->kind != '{') return refuse(out, 400, "invalid JSON");
    const char *wrong = fault_in_work(entry), *id = text_in(entry, "runner_id", "");
    if (wrong != NULL) return refuse(out, 400, "%s", wrong);
    forget_the_silent();
    struct runner *one = *with_id(id, strlen(id));
    int is_new = one == NULL;
    if (is_new && !given("orchSecret")) return refuse(out, 404, "dynamic live runner registration is disabled");
    if (is_new && !is_admitted(request->authorization)) return refuse(out, 401, "invalid registration authorization");
    if (!is_new && (*one->secret == '\0' || strcmp(one->secret, request->authorization) != 0))
        return refuse(out, 401, "invalid heartbeat authorization");
    if (is_new) {
        one = added(entry);
        if (*id != '\0') snprintf(one->id, sizeof one->id, "%s", id);
        give_secret(one);
        say("live runner registered runner_id=%s app=%s runner_url=%s", one->id, text_in(entry, "app", ""),
            text_in(entry, "runner_url", ""));
    }
    one->entry = entry;
    one->heard = now();
    fputs("{\"runner_id\":", out);
    write_json_text(out, one->id);
    write_pair(out, "orchestrator", text_of("serviceAddr", ""));
    fprintf(out, ",\"heartbeat_interval\":\"5s\",\"heartbeat_ttl\":\"%gs\"", illness_now().forgets);
    if (is_new) write_pair(out, "heartbeat_secret", one->secret);
    fputs(",\"session_ids\":[]}", out);
    return 200;
}

int unregister_runner(const struct request *request, FILE *out) {
    const char *id = request->path + strlen("/runners/");
    if (strcmp(request->method, "POST") != 0) return refuse(out, 405, "Method not allowed");
    forget_the_silent();
    struct runner **place = with_id(id, strcspn(id, "/"));
    if (*place == NULL) return refuse(out, 404, "runner not found");
    if (*(*place)->secret == '\0')
        return refuse(out, 400, "static runner cannot unregister with heartbeat credentials");
    if (strcmp((*place)->secret, request->authorization) != 0) return refuse(out, 401, "invalid authorization");
    remove_at(place, "unregister");
    return 204;
}

/* What clients find. */

/* By the node's unit of a price: how many of the advertised ones it has, and what that one is called. */
static const char *const UNITS[][3] = {
    {"hour", "3600", "seconds"},
    {"720p", "99532800000", "720p-pixel-seconds"},
    {"fixed", "1", "fixed"},
};

static void write_price(FILE *out, const struct json *price) {
    const char *unit = text_in(price, "unit", "hour");
    for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++) {
        char *wei = strcasecmp(UNITS[i][0], unit) == 0 ? whole_price(text_in(price, "price", "0"), UNITS[i][1]) : NULL;
        if (wei != NULL)
            fprintf(out, ",\"price_info\":{\"price\":%s,\"currency\":\"wei\",\"unit\":\"%s\"}", wei, UNITS[i][2]);
        free(wei);
    }
}

static void write_gpu(FILE *out, const struct json *gpu) {
    fputs(",\"gpu\":{\"id\":", out);
    write_json_text(out, text_in(gpu, "id", ""));
    write_pair(out, "name", text_in(gpu, "name", ""));
    fprintf(out, ",\"vram_mb\":%ld}", atol(text_in(gpu, "vram_mb", "0")));
}

static void write_offer(FILE *out, const struct runner *one) {
    const struct json *entry = one->entry, *price = member(entry, "price_info"), *gpu = member(entry, "gpu");
    int by_label = *one->secret == '\0' && strcmp(text_in(entry, "routing", ""), "label") == 0;
    long capacity = atol(text_in(entry, "capacity", "0"));
    capacity = capacity > 0 ? capacity : 1;
    char *url = NULL;
    if (asprintf(&url, "%s/apps/%s", text_of("serviceAddr", ""), by_label ? text_in(entry, "label", "") : one->id) < 0)
        abort();
    fputs("{\"url\":", out);
    write_json_text(out, url);
    free(url);
    if (gpu != NULL && gpu->kind == '{') write_gpu(out, gpu);
    write_pair(out, "app", text_in(entry, "app", ""));
    if (*text_in(entry, "version", "") != '\0') write_pair(out, "version", text_in(entry, "version", ""));
    if (*text_in(entry, "metadata", "") != '\0') write_pair(out, "metadata", text_in(entry, "metadata", ""));
    write_pair(out, "mode", text_in(entry, "mode", "persistent"));
    fprintf(out, ",\"capacity\":%ld,\"capacity_used\":0,\"capacity_available\":%ld", capacity, capacity);
    if (on_chain() && price != NULL) write_price(out, price);
    fputc('}', out);
}

int discover_runners(const struct request *request, FILE *out) {
    int written = 0;
    (void)request;
    if (!listens) return refuse(out, 404, "live runners are not supported");
    forget_the_silent();
    fputs("[{\"address\":", out);
    write_json_text(out, text_of("serviceAddr", ""));
    for (const struct runner *one = runners; one != NULL; one = one->next) {
        if (*one->secret == '\0' && !is_well(one->entry)) continue;
        fputs(written++ ? "," : ",\"runners\":[", out);
        write_offer(out, one);
    }
    fputs(written ? "]}]" : "}]", out);
    return 200;
}
