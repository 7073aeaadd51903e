/*
 * A STAND-IN for a live runner, for deploy tests. It serves no model and does no work.
 *
 * In:  -port=8000, and any other words, which it ignores. `standin-ill` in the directory of STANDIN_DIRECTORY makes it
 *      ill while it runs: the file's text is the status that it answers when it is asked whether it is well.
 *      With -orchestrator=http://127.0.0.1:8935 it registers itself there with the secret in ORCH_SECRET, as what the
 *      words -app=, -url=, -price= (USD), -unit= and -capacity= say; they have no quotes and no backslashes.
 * Out: on all addresses: 200 at /health, at /echo the body of the request, and 404 elsewhere; a line on stderr for each,
 *      and for each heartbeat that is not answered with 200.
 *
 * It answers one request at a time and closes the connection. It sends a heartbeat each five seconds, and each second
 * until the first one is taken. SIGTERM unregisters it and ends it with 0; a taken port ends it with 1.
 */
#define _GNU_SOURCE

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 65536, SECONDS = 5, EACH = 5 };

static volatile sig_atomic_t ends;
static char id[64], secret[64]; /* what the orchestrator gave it; empty before */

static void stop(int signal_number) {
    (void)signal_number;
    ends = 1;
}

/* What follows a word such as "-port=", or a default. */
static const char *word_of(char **argv, const char *name, const char *usual) {
    for (; *argv != NULL; argv++)
        if (strncmp(*argv, name, strlen(name)) == 0) usual = *argv + strlen(name);
    if (strpbrk(usual, "\"\\") == NULL) return usual;
    fprintf(stderr, "stand-in runner: a quote or a backslash in %s\n", name);
    exit(1);
}

static int listen_on(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (port < 1 || port > 65535 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 16) < 0) {
        fprintf(stderr, "stand-in runner: cannot listen on port %d\n", port);
        exit(1);
    }
    return fd;
}

/* The status of its health at this moment. */
static int health(void) {
    const char *directory = getenv("STANDIN_DIRECTORY");
    char path[4096];
    int status = 200;
    if (directory == NULL || snprintf(path, sizeof path, "%s/standin-ill", directory) >= (int)sizeof path) return status;
    FILE *file = fopen(path, "r");
    if (file == NULL) return status;
    if (fscanf(file, "%d", &status) != 1) status = 500;
    fclose(file);
    return status;
}

/* A request with its whole body, as far as it comes in time and fits; where the body begins, or NULL. */
static char *received(int fd, char *text) {
    size_t length = 0;
    for (;;) {
        ssize_t more = read(fd, text + length, MOST - 1 - length);
        if (more <= 0) return NULL;
        text[length += (size_t)more] = '\0';
        char *end = strstr(text, "\r\n\r\n");
        if (end == NULL) continue;
        const char *stated = strcasestr(text, "\r\ncontent-length:");
        size_t body = stated != NULL && stated < end ? strtoul(stated + 17, NULL, 10) : 0;
        if (length >= (size_t)(end + 4 - text) + body) return end + 4;
    }
}

static void answer(int fd) {
    static char text[MOST];
    struct timeval time = {.tv_sec = SECONDS};
    char method[16], path[512];
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
    const char *body = received(fd, text);
    if (body == NULL || sscanf(text, "%15s %511s", method, path) != 2) return;
    int echoes = strcmp(path, "/echo") == 0, status = strcmp(path, "/health") == 0 ? health() : echoes ? 200 : 404;
    fprintf(stderr, "stand-in runner: %s: %d\n", echoes ? "echo" : status == 404 ? "unknown" : "health", status);
    const char *said = echoes ? body : "";
    dprintf(fd, "HTTP/1.1 %d Said\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s", status, strlen(said), said);
}

/* The text behind `"key":"` in an answer, if it is there and fits. */
static void take_text(char *place, size_t size, const char *answer, const char *key) {
    const char *found = strstr(answer, key);
    size_t length = found == NULL ? 0 : strcspn(found + strlen(key), "\"");
    if (length > 0 && length < size) snprintf(place, size, "%.*s", (int)length, found + strlen(key));
}

/* Sends a POST to http://ADDRESS:PORT and reads what is answered; its status, or 0. */
static int post(const char *url, const char *path, const char *shown, const char *body, char *answer) {
    struct timeval time = {.tv_sec = SECONDS};
    struct sockaddr_in address = {.sin_family = AF_INET};
    char host[64] = "";
    int port = 80, status = 0, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    size_t length = 0;
    ssize_t more = 0;
    answer[0] = '\0';
    if (sscanf(url, "http://%63[0-9.]:%d", host, &port) < 1 || inet_pton(AF_INET, host, &address.sin_addr) != 1) exit(1);
    address.sin_port = htons((unsigned short)port);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) {
        dprintf(fd, "POST %s HTTP/1.1\r\nHost: %s:%d\r\nAuthorization: %s\r\nContent-Type: application/json\r\n", path, host,
                port, shown);
        dprintf(fd, "Content-Length: %zu\r\nConnection: close\r\n\r\n%s", strlen(body), body);
        while (length < MOST - 1 && (more = read(fd, answer + length, MOST - 1 - length)) > 0) length += (size_t)more;
        answer[length] = '\0';
        sscanf(answer, "HTTP/1.%*d %d", &status);
    }
    close(fd);
    return status;
}

/* Says that it is there. One that the orchestrator has forgotten registers anew at the next heartbeat. */
static void beat(char **argv, const char *orchestrator) {
    static char answer[MOST];
    const char *given = getenv("ORCH_SECRET");
    char *body = NULL;
    if (asprintf(&body, "{\"runner_id\":\"%s\",\"runner_url\":\"%s\",\"app\":\"%s\",\"status\":\"ready\",\"capacity\":%d,"
                 "\"price_info\":{\"price\":%s,\"currency\":\"usd\",\"unit\":\"%s\"}}", id, word_of(argv, "-url=", ""),
                 word_of(argv, "-app=", ""), atoi(word_of(argv, "-capacity=", "1")), word_of(argv, "-price=", "0"),
                 word_of(argv, "-unit=", "hour")) < 0)
        abort();
    int status = post(orchestrator, "/runners/heartbeat", *secret ? secret : given ? given : "", body, answer);
    free(body);
    if (status == 200) {
        take_text(id, sizeof id, answer, "\"runner_id\":\"");
        take_text(secret, sizeof secret, answer, "\"heartbeat_secret\":\"");
        return;
    }
    fprintf(stderr, "stand-in runner: heartbeat: %d\n", status);
    if (status == 404 || status == 401) *id = *secret = '\0';
}

static void leave(const char *orchestrator) {
    static char answer[MOST];
    char path[128];
    if (*id == '\0' || snprintf(path, sizeof path, "/runners/%s/unregister", id) >= (int)sizeof path) return;
    fprintf(stderr, "stand-in runner: unregister: %d\n", post(orchestrator, path, secret, "", answer));
}

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

int main(int argc, char **argv) {
    const char *orchestrator = word_of(argv, "-orchestrator=", "");
    struct sigaction stopping = {.sa_handler = stop};
    sigset_t held, before;
    (void)argc;
    sigemptyset(&held);
    sigaddset(&held, SIGTERM);
    sigprocmask(SIG_BLOCK, &held, &before); /* it is only told while it waits, so that a heartbeat is whole */
    sigaction(SIGTERM, &stopping, NULL);
    signal(SIGPIPE, SIG_IGN);
    struct pollfd listener = {.fd = listen_on(atoi(word_of(argv, "-port=", "0"))), .events = POLLIN};
    for (long due = 0; !ends;) {
        if (*orchestrator != '\0' && now() >= due) {
            beat(argv, orchestrator);
            due = now() + (*id != '\0' ? EACH : 1);
        }
        struct timespec second = {.tv_sec = 1};
        int peer = ppoll(&listener, 1, &second, &before) > 0 ? accept(listener.fd, NULL, NULL) : -1;
        if (peer < 0) continue;
        answer(peer);
        close(peer);
    }
    if (*orchestrator != '\0') leave(orchestrator);
}
