/*
 * A STAND-IN for a live runner, for deploy tests. It serves no model and does no work.
 *
 * In:  -port=8000, and any other words, which it ignores. `standin-ill` in the directory of STANDIN_DIRECTORY makes it
 *      ill while it runs: the file's text is the status that it answers when it is asked whether it is well.
 * Out: on all addresses: 200 at /health, at /echo the body of the request, and 404 elsewhere; a line on stderr for each.
 *
 * It answers one request at a time and closes the connection. SIGTERM ends it with 0, a taken port with 1.
 */
#define _GNU_SOURCE

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { MOST = 65536, SECONDS = 5 };

static void stop(int signal_number) {
    (void)signal_number;
    _exit(0);
}

static int port_of(int argc, char **argv) {
    int port = 0;
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "-port=", 6) == 0) port = atoi(argv[i] + 6);
    return port;
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

int main(int argc, char **argv) {
    signal(SIGTERM, stop);
    signal(SIGPIPE, SIG_IGN);
    int fd = listen_on(port_of(argc, argv));
    for (;;) {
        int peer = accept(fd, NULL, NULL);
        if (peer < 0) continue;
        answer(peer);
        close(peer);
    }
}
