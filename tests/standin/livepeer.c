/*
 * A STAND-IN for the livepeer node, for deploy tests. It is not the node and does no video, AI or chain work.
 *
 * In:  any -name=value or --name=value words; -httpAddr, -cliAddr and -rtmpAddr are acted on (also "-name value").
 * Out: a TCP listener for each of the three; any GET is answered 200 (with a short JSON body for /status), anything
 *      else 405; lines on stderr. It never opens a connection and sends nothing but these answers.
 *
 * Like the node: a taken port ends the process with status 0 and one line on stderr (2 for the orchestrator's
 * -httpAddr); ":PORT" means loopback, except for the orchestrator's -httpAddr, where it means all addresses;
 * -version prints and exits 0; SIGTERM ends it with 0.
 * Unlike the node: unknown flags are accepted, there is no default listener, no TLS, and no IPv6; a host other than
 * a number or "localhost" is taken as all addresses.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static const char *const STATUS =
    "{\"Version\":\"0.9.1-standin\",\"GolangRuntimeVersion\":\"none\",\"GOArch\":\"none\",\"GOOS\":\"linux\","
    "\"Manifests\":{},\"InternalManifests\":{},\"StreamInfo\":{},\"OrchestratorPool\":[],"
    "\"OrchestratorPoolInfos\":null,\"RegisteredTranscodersNumber\":0,\"RegisteredTranscoders\":[],"
    "\"LocalTranscoding\":true,\"BroadcasterPrices\":{}}\n";

static void stop(int signal_number) {
    (void)signal_number;
    _exit(0);
}

/* The value of a flag, or NULL; the last one given wins. A flag without a value has the value "true". */
static const char *flag(int argc, char **argv, const char *name) {
    const char *found = NULL;
    size_t length = strlen(name);
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (word[0] != '-') continue;
        word += word[1] == '-' ? 2 : 1;
        if (strncmp(word, name, length) != 0) continue;
        if (word[length] == '=') found = word + length + 1;
        else if (word[length] == '\0') found = i + 1 < argc && argv[i + 1][0] != '-' ? argv[i + 1] : "true";
    }
    return found;
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
    if (flag(argc, argv, "version")) {
        puts("Livepeer Node Version: 0.9.1-standin");
        return 0;
    }
    const char *role = flag(argc, argv, "orchestrator");
    int orchestrator = role != NULL && strchr("1tT", role[0]) != NULL;
    for (int i = 0; i < 3; i++) {
        const char *value = flag(argc, argv, NAMES[i]);
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
