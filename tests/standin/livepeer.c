/*
 * A STAND-IN for the livepeer node, for deploy tests. It is not the node and does no video, AI or chain work.
 *
 * In:  the node's flags, as the table in flags.h has them, and the LP_ variables of these. -httpAddr, -cliAddr and
 *      -rtmpAddr are acted on.
 * Out: a TCP listener for each of the three; any GET is answered 200 (with a short JSON body for /status), anything
 *      else 405; lines on stderr, those about flags on stdout. It never opens a connection and sends nothing else.
 *
 * Like the node: flags are read as Go's flag package reads them, so an unknown one or a bad literal ends it with status
 * 2 and parsing stops at the first bare word; a bad literal in a variable ends it with 1; so do, each with the node's
 * own status, a role without what it needs and settings that exclude one another (see `need`). A taken port ends the
 * process with status 0 and one line on stderr (2 for the orchestrator's -httpAddr); ":PORT" means loopback, except for
 * the orchestrator's -httpAddr, where it means all addresses; -version prints and exits 0; SIGTERM ends it with 0.
 * With STANDIN_CHECK_ONLY in its environment it ends with 0 where it would listen.
 * Unlike the node: no config file, no number with underscores in it, no default listener, no TLS, and no IPv6; a host
 * other than a number or "localhost" is taken as all addresses.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

struct flag {
    const char *name, *variable;
    char type; /* b bool, i integer, f float, d duration, s string */
};

#include "flags.h" /* FLAGS and FLAG_COUNT, made from the table of the node's flags */

static const char *values[FLAG_COUNT]; /* NULL: not given */

static const char *const STATUS =
    "{\"Version\":\"0.9.1-standin\",\"GolangRuntimeVersion\":\"none\",\"GOArch\":\"none\",\"GOOS\":\"linux\","
    "\"Manifests\":{},\"InternalManifests\":{},\"StreamInfo\":{},\"OrchestratorPool\":[],"
    "\"OrchestratorPoolInfos\":null,\"RegisteredTranscodersNumber\":0,\"RegisteredTranscoders\":[],"
    "\"LocalTranscoding\":true,\"BroadcasterPrices\":{}}\n";

static void stop(int signal_number) {
    (void)signal_number;
    _exit(0);
}

static int end(int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(status == 2 ? stdout : stderr, format, arguments);
    fputs("\n", status == 2 ? stdout : stderr);
    va_end(arguments);
    exit(status);
}

static int find(const char *name, size_t length) {
    for (int i = 0; i < FLAG_COUNT; i++)
        if (strlen(FLAGS[i].name) == length && strncmp(FLAGS[i].name, name, length) == 0) return i;
    return -1;
}

static const char *value_of(const char *name) { return values[find(name, strlen(name))]; }

static int given(const char *name) {
    const char *value = value_of(name);
    return value != NULL && value[0] != '\0';
}

static int is_word(const char *text, const char *words) {
    char framed[16];
    return snprintf(framed, sizeof framed, "|%s|", text) < (int)sizeof framed && strstr(words, framed) != NULL;
}

static int is_on(const char *name) { return given(name) && is_word(value_of(name), "|1|t|T|true|TRUE|True|"); }

static int is_integer(const char *text) {
    const char *digits = text + (text[0] == '+' || text[0] == '-');
    int binary = digits[0] == '0' && (digits[1] | 32) == 'b', octal = digits[0] == '0' && (digits[1] | 32) == 'o';
    if (digits[0] < '0' || digits[0] > '9') return 0;
    const char *start = binary || octal ? digits + 2 : digits;
    char *rest;
    errno = 0;
    strtoll(start, &rest, binary ? 2 : octal ? 8 : 0);
    return rest != start && rest[0] == '\0' && errno == 0 && start[0] >= '0';
}

static int is_float(const char *text) {
    char *rest;
    strtod(text, &rest);
    return rest != text && rest[0] == '\0' && strpbrk(text, " xXpP") == NULL;
}

static int is_duration(const char *text) {
    static const char *const UNITS[] = {"ns", "us", "µs", "μs", "ms", "s", "m", "h"};
    text += text[0] == '+' || text[0] == '-';
    if (strcmp(text, "0") == 0) return 1;
    if (text[0] == '\0') return 0;
    while (text[0] != '\0') {
        size_t whole = strspn(text, "0123456789");
        size_t fraction = text[whole] == '.' ? strspn(text + whole + 1, "0123456789") : 0;
        if (whole + fraction == 0) return 0;
        text += whole + (text[whole] == '.') + fraction;
        size_t unit = 0;
        for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS && unit == 0; i++)
            if (strncmp(text, UNITS[i], strlen(UNITS[i])) == 0) unit = strlen(UNITS[i]);
        if (unit == 0) return 0;
        text += unit;
    }
    return 1;
}

static int fits(char type, const char *text) {
    switch (type) {
    case 'b': return is_word(text, "|1|t|T|true|TRUE|True|0|f|F|false|FALSE|False|");
    case 'i': return is_integer(text);
    case 'f': return is_float(text);
    case 'd': return is_duration(text);
    default: return 1;
    }
}

/* Go's flag package: a bool never takes the next word, any other flag always does, the last one given wins. */
static void parse(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (word[0] != '-' || word[1] == '\0' || strcmp(word, "--") == 0) break;
        const char *name = word + (word[1] == '-' ? 2 : 1);
        size_t length = strcspn(name, "=");
        if (length == 0 || name[0] == '-') end(2, "bad flag syntax: %s\nUsage of livepeer:", word);
        int found = find(name, length);
        if (found < 0 && (strcmp(name, "h") == 0 || strcmp(name, "help") == 0)) exit(0);
        if (found < 0) end(2, "flag provided but not defined: -%.*s\nUsage of livepeer:", (int)length, name);
        const char *value = name[length] == '=' ? name + length + 1 : FLAGS[found].type == 'b' ? "true" : argv[++i];
        if (value == NULL) end(2, "flag needs an argument: -%s\nUsage of livepeer:", name);
        if (!fits(FLAGS[found].type, value))
            end(2, "invalid value \"%s\" for flag -%s: parse error\nUsage of livepeer:", value, FLAGS[found].name);
        values[found] = value;
    }
    for (int i = 0; i < FLAG_COUNT; i++) {
        const char *value = values[i] == NULL ? getenv(FLAGS[i].variable) : NULL;
        if (value == NULL || value[0] == '\0') continue;
        if (!fits(FLAGS[i].type, value))
            end(1, "Error parsing config: error setting flag \"%s\" from env var \"%s\"", FLAGS[i].name, FLAGS[i].variable);
        values[i] = value;
    }
}

static void need(int holds, int status, const char *line) {
    if (!holds) end(status, "%s", line);
}

/* What the node asks of its settings when it starts; 2 stands for its panics too. */
static void check(void) {
    int orchestrator = is_on("orchestrator") && !is_on("redeemer") && !is_on("remoteSigner");
    int gateway = is_on("gateway") || is_on("broadcaster");
    int works = orchestrator || is_on("redeemer") || is_on("remoteSigner") || is_on("transcoder") || is_on("aiWorker");
    const char *network = given("network") ? value_of("network") : "offchain";
    int on_chain = strcmp(network, "offchain") != 0;
    const char *sessions = given("maxSessions") ? value_of("maxSessions") : "10";
    int counted = sessions[strspn(sessions, "0123456789")] == '\0' && atol(sessions) > 0;
    int automatic = strcmp(sessions, "auto") == 0 && orchestrator;

    need(counted || (automatic && !is_on("transcoder")), 1, "-maxSessions must be a positive number or auto");
    need(!given("nvidia") || !given("netint"), 1, "both -nvidia and -netint arguments specified");
    need(on_chain || !is_on("remoteSigner"), 2, "Remote signer mode requires on-chain network");
    need(works || gateway || is_on("reward") || is_on("initializeRound"), 2,
         "No services enabled; must be at least one of -gateway, -transcoder, -aiWorker, -orchestrator, -redeemer, -reward "
         "or -initializeRound");
    need(!on_chain || given("ethUrl"), 1, "Need to specify an Ethereum node JSON-RPC URL using -ethUrl");
    if (!orchestrator) return;
    need(!on_chain || is_on("aiWorker") || given("pricePerUnit"), 2, "panic: -pricePerUnit must be set");
    need(!is_on("useLiveRunners") || given("orchSecret") || given("liveRunnerConfig"), 1,
         "-orchSecret is required for live runners");
    need(is_on("transcoder") || is_on("aiWorker") || given("aiModels") || given("orchSecret"), 1,
         "Running an orchestrator requires an -orchSecret for standalone mode or -transcoder for orchestrator+transcoder mode");
}

/* A listener on "host:port", "http://host:port" or "https://host:port". Ends the process where that is impossible. */
static int listen_on(const char *name, const char *value, int all_addresses, int status_if_taken) {
    const char *scheme_end = strstr(value, "://");
    const char *host = scheme_end ? scheme_end + 3 : value;
    const char *colon = strrchr(host, ':');
    char *end = NULL;
    long port = colon ? strtol(colon + 1, &end, 10) : 0;
    if (port < 1 || port > 65535 || *end != '\0') {
        fprintf(stderr, "stand-in: -%s=%s: no port in it\n", name, value);
        exit(status_if_taken);
    }
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    char text[64] = "";
    size_t length = (size_t)(colon - host);
    if (length < sizeof text) memcpy(text, host, length);
    if (strcmp(text, "localhost") == 0 || (length == 0 && !all_addresses)) strcpy(text, "127.0.0.1");
    if (inet_pton(AF_INET, text, &address.sin_addr) != 1) address.sin_addr.s_addr = htonl(INADDR_ANY);

    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 64) < 0) {
        fprintf(stderr, "stand-in: -%s: listen tcp %s: %s\n", name, value, strerror(errno));
        exit(status_if_taken);
    }
    fprintf(stderr, "stand-in: -%s listens on %s\n", name, value);
    return fd;
}

static void answer(int fd) {
    char request[4096], reply[1024];
    struct timeval patience = {.tv_sec = 1};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ssize_t got = recv(fd, request, sizeof request - 1, 0);
    if (got <= 0) return;
    request[got] = '\0';
    int is_get = strncmp(request, "GET ", 4) == 0;
    int is_status = strncmp(request, "GET /status", 11) == 0 && strchr(" ?", request[11]) != NULL;
    const char *body = is_status ? STATUS : is_get ? "stand-in\n" : "";
    int size = snprintf(reply, sizeof reply,
                        "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
                        is_get ? "200 OK" : "405 Method Not Allowed", is_status ? "application/json" : "text/plain",
                        strlen(body), body);
    send(fd, reply, (size_t)size, MSG_NOSIGNAL);
}

int main(int argc, char **argv) {
    static const char *const NAMES[] = {"httpAddr", "cliAddr", "rtmpAddr"};
    struct pollfd listeners[3];
    nfds_t count = 0;
    signal(SIGTERM, stop);
    signal(SIGINT, stop);
    parse(argc, argv);
    if (is_on("version") || is_on("j")) {
        puts("Livepeer Node Version: 0.9.1-standin");
        return 0;
    }
    check();
    if (getenv("STANDIN_CHECK_ONLY")) return 0;
    int orchestrator = is_on("orchestrator");
    for (int i = 0; i < 3; i++) {
        const char *value = value_of(NAMES[i]);
        int rpc = orchestrator && i == 0;
        if (value != NULL && value[0] != '\0')
            listeners[count++] = (struct pollfd){.fd = listen_on(NAMES[i], value, rpc, rpc ? 2 : 0), .events = POLLIN};
    }
    for (;;) {
        poll(listeners, count, -1);
        for (nfds_t i = 0; i < count; i++) {
            if (!(listeners[i].revents & POLLIN)) continue;
            int fd = accept(listeners[i].fd, NULL, NULL);
            if (fd < 0) continue;
            answer(fd);
            close(fd);
        }
    }
}
