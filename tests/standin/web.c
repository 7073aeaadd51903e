/*
 * Connections and HTTP.
 *
 * In:  listeners. Out: one answer for each connection, then its end; `answer` decides what it is.
 *
 * Each connection has a thread, so nobody waits for a client that stalls. Connections are limited: when all seats are
 * taken, the one that has sat longest is closed, and so is any that lasts longer than PATIENCE.
 * Unlike the node: one request for each connection, no HTTP/2, no chunked bodies, and at most 64 KiB of a request.
 */
#include "node.h"

#include <ctype.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SEATS 256
#define PATIENCE 10
#define LONGEST_REQUEST 65536
#define STACK (256 * 1024)

struct seat {
    int fd, taken, waits; /* waits: it is to hang, so patience does not end */
    time_t since;
    const struct listener *listener;
};

struct channel {
    int fd;
    SSL *tls; /* NULL: plain */
};

static struct seat seats[SEATS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for the seats, and for closing what sits there */
static pthread_cond_t left = PTHREAD_COND_INITIALIZER;
static SSL_CTX *tls_context;

/* TLS. */

static void must(int holds, const char *what) {
    if (!holds) end(1, "stand-in: TLS: %s", what);
}

/* Whoever asks does not verify it, so it names nobody, and a new one is made at each start. */
static void prepare_tls(void) {
    must(OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL), "library");
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    must(key != NULL && certificate != NULL, "key");
    X509_NAME *name = X509_get_subject_name(certificate);
    X509_set_version(certificate, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), (long)time(NULL));
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 365 * 24 * 3600);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"stand-in", -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    X509_set_pubkey(certificate, key);
    must(X509_sign(certificate, key, EVP_sha256()), "signature");
    tls_context = SSL_CTX_new(TLS_server_method());
    must(tls_context != NULL && SSL_CTX_set_min_proto_version(tls_context, TLS1_2_VERSION), "versions");
    must(SSL_CTX_use_certificate(tls_context, certificate) && SSL_CTX_use_PrivateKey(tls_context, key), "certificate");
    EVP_PKEY_free(key);
    X509_free(certificate);
}

static void send_all(struct channel *channel, const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t sent = channel->tls ? SSL_write(channel->tls, bytes, (int)size) : send(channel->fd, bytes, size, 0);
        if (sent <= 0) return;
        bytes += sent;
        size -= (size_t)sent;
    }
}

static ssize_t receive(struct channel *channel, char *place, size_t room) {
    return channel->tls ? SSL_read(channel->tls, place, (int)room) : recv(channel->fd, place, room, 0);
}

/* Whether the channel can be used. A client that speaks HTTP where TLS is spoken is told so, as the node does it. */
static int open_channel(struct channel *channel) {
    static const char PLAIN[] = "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
    char first;
    if (recv(channel->fd, &first, 1, MSG_PEEK) != 1) return 0;
    if (isalpha((unsigned char)first)) {
        send_all(channel, PLAIN, sizeof PLAIN - 1);
        return 0;
    }
    channel->tls = SSL_new(tls_context);
    return channel->tls != NULL && SSL_set_fd(channel->tls, channel->fd) && SSL_accept(channel->tls) == 1;
}

/* What the client still sends is thrown away until it ends, or says nothing for a second: closing at once would make
   the kernel discard the answer. */
static void close_channel(struct channel *channel) {
    struct timeval second = {.tv_sec = 1};
    char thrown[4096];
    if (channel->tls) SSL_shutdown(channel->tls);
    SSL_free(channel->tls);
    shutdown(channel->fd, SHUT_WR);
    setsockopt(channel->fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
    while (recv(channel->fd, thrown, sizeof thrown, 0) > 0) continue;
}

static void wait_for_end(struct channel *channel) {
    char thrown[4096];
    while (receive(channel, thrown, sizeof thrown) > 0) continue;
}

/* HTTP. */

static const char *reason(int status) {
    switch (status) {
    case 200: return "OK";
    case 204: return "No Content";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 404: return "Not Found";
    case 413: return "Request Entity Too Large";
    case 431: return "Request Header Fields Too Large";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    default: return "Internal Server Error";
    }
}

static void reply(struct channel *channel, int status, const char *body, size_t size, int without_body) {
    const char *type = *body == '{' ? "application/json" : "text/plain; charset=utf-8";
    char head[256];
    int length = snprintf(head, sizeof head,
                          "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
                          status, reason(status), type, size);
    send_all(channel, head, (size_t)length);
    if (!without_body) send_all(channel, body, size);
}

static int hex(char digit) {
    if (!isxdigit((unsigned char)digit)) return -1;
    return isdigit((unsigned char)digit) ? digit - '0' : tolower(digit) - 'a' + 10;
}

/* Decodes in place. A zero becomes a byte that no value has, because it would end the text. */
static int decode(char *text, int plus_is_blank) {
    char *to = text;
    for (char *from = text; *from != '\0'; from++) {
        if (*from != '%') {
            *to++ = *from == '+' && plus_is_blank ? ' ' : *from;
            continue;
        }
        int high = hex(from[1]), low = high < 0 ? -1 : hex(from[2]);
        if (low < 0) return 0;
        int byte = high * 16 + low;
        *to++ = (char)(byte == 0 ? 0xFF : byte);
        from += 2;
    }
    *to = '\0';
    return 1;
}

/* As Go reads them: what is wrong is remembered once, and the rest is read all the same. */
static void read_pairs(struct request *request, char *text) {
    for (char *value, *name; (value = strsep(&text, "&")) != NULL;) {
        if (strchr(value, ';') != NULL) {
            snprintf(request->fault, sizeof request->fault, "invalid semicolon separator in query");
            continue;
        }
        name = strsep(&value, "=");
        if (!decode(name, 1) || (value != NULL && !decode(value, 1))) {
            snprintf(request->fault, sizeof request->fault, "invalid URL escape");
            continue;
        }
        if (*name == '\0' || request->pairs == MOST_PAIRS) continue;
        request->form[request->pairs].name = name;
        request->form[request->pairs++].value = value == NULL ? "" : value;
    }
}

/* The value of a header field, or NULL; in place, cut off at its end. */
static char *header(char *lines, const char *name) {
    size_t length = strlen(name);
    for (char *line = lines; line != NULL && *line != '\0'; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (strncasecmp(line, name, length) != 0 || line[length] != ':') continue;
        char *value = line + length + 1;
        return value + strspn(value, " \t");
    }
    return NULL;
}

static int is_form(const char *method, const char *type) {
    static const char FORM[] = "application/x-www-form-urlencoded";
    size_t length = sizeof FORM - 1;
    int has_body = strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 || strcmp(method, "PATCH") == 0;
    return has_body && type != NULL && strncasecmp(type, FORM, length) == 0 && strchr("; \r\n", type[length]) != NULL;
}

/* A request line: a method, a path and a version. Cuts them off in place; 0 where it is none. */
static int read_first_line(struct request *request, char *line, char **query) {
    char *target = strchr(line, ' ');
    char *version = target == NULL ? NULL : strchr(target + 1, ' ');
    if (version == NULL || target[1] != '/' || (size_t)(target - line) >= sizeof request->method) return 0;
    if (strncmp(version, " HTTP/1.", 8) != 0 || strchr("01", version[8]) == NULL || version[9] != '\r') return 0;
    *target = *version = '\0';
    strcpy(request->method, line);
    for (const char *sign = line; *sign != '\0'; sign++)
        if (!isupper((unsigned char)*sign)) return 0;
    char *path = target + 1;
    *query = strchr(path, '?');
    if (*query != NULL) *(*query)++ = '\0';
    request->path = path;
    return *line != '\0' && decode(path, 0);
}

/* The whole of a request, as it came in. */
struct letter {
    char *bytes; /* a zero follows */
    size_t size;
    char *body;  /* in it */
};

/* Reads until the sign is there, or where none is asked for, `enough` bytes. */
static int read_until(struct channel *channel, struct letter *letter, const char *sign, size_t enough) {
    while (sign != NULL ? memmem(letter->bytes, letter->size, sign, strlen(sign)) == NULL : letter->size < enough) {
        if (letter->size >= LONGEST_REQUEST) return 0;
        ssize_t got = receive(channel, letter->bytes + letter->size, LONGEST_REQUEST - letter->size);
        if (got <= 0) return 0;
        letter->size += (size_t)got;
        letter->bytes[letter->size] = '\0';
    }
    return 1;
}

/* Reads a request. 0, or the status to answer with; -1 where the client has gone. */
static int read_request(struct channel *channel, struct request *request, struct letter *letter) {
    char *query = NULL;
    if (!read_until(channel, letter, "\n", 0)) return letter->size >= LONGEST_REQUEST ? 431 : -1;
    char *line_end = memchr(letter->bytes, '\n', letter->size);
    *line_end = '\0'; /* a zero before it ends the line early, which makes it no request line */
    if (strlen(letter->bytes) != (size_t)(line_end - letter->bytes)) return 400;
    if (!read_first_line(request, letter->bytes, &query)) return 400;
    int newer = line_end[-2] == '1';
    *line_end = '\n';
    if (!read_until(channel, letter, "\r\n\r\n", 0)) return letter->size >= LONGEST_REQUEST ? 431 : -1;
    letter->body = (char *)memmem(letter->bytes, letter->size, "\r\n\r\n", 4) + 4;
    letter->body[-1] = '\0';

    char *lines = line_end + 1, *length = header(lines, "Content-Length"), *rest;
    if (newer && header(lines, "Host") == NULL) return 400;
    if (header(lines, "Transfer-Encoding") != NULL) return 501;
    char *allowed = header(lines, "Authorization");
    if (allowed != NULL)
        snprintf(request->authorization, sizeof request->authorization, "%.*s", (int)strcspn(allowed, "\r\n"), allowed);
    unsigned long size = 0;
    if (length != NULL) {
        size = strtoul(length, &rest, 10);
        if (!isdigit((unsigned char)*length) || strchr("\r", *rest) == NULL) return 400;
    }
    if (size > LONGEST_REQUEST - (size_t)(letter->body - letter->bytes)) return 413;
    if (!read_until(channel, letter, NULL, (size_t)(letter->body - letter->bytes) + size)) return -1;
    letter->body[size] = '\0';
    request->body = letter->body;
    if (is_form(request->method, header(lines, "Content-Type"))) read_pairs(request, letter->body);
    if (query != NULL) read_pairs(request, query);
    return 0;
}

static void stay(struct seat *seat) {
    pthread_mutex_lock(&lock);
    seat->waits = 1;
    pthread_mutex_unlock(&lock);
}

static void converse(struct channel *channel, struct seat *seat) {
    struct request request = {.door = seat->listener->door};
    struct letter letter = {.bytes = calloc(1, LONGEST_REQUEST + 1)};
    char *body = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&body, &size);
    if (letter.bytes == NULL || out == NULL) end(1, "stand-in: no memory");
    int status = read_request(channel, &request, &letter);
    if (status > 0) fprintf(out, "%d %s", status, reason(status));
    else if (status == 0) status = answer(&request, out);
    else status = HANGS_UP;
    fclose(out);
    if (status == NEVER_ANSWERS) {
        stay(seat);
        wait_for_end(channel);
    } else if (status != HANGS_UP) {
        reply(channel, status, body, size, strcmp(request.method, "HEAD") == 0);
    }
    free(body);
    free(letter.bytes);
}

/* Seats. */

static time_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

static void *attend(void *argument) {
    struct seat *seat = argument;
    struct channel channel = {.fd = seat->fd};
    if (!seat->listener->tls || open_channel(&channel)) {
        if (seat->listener->door == RTMP_DOOR) wait_for_end(&channel);
        else converse(&channel, seat);
    }
    close_channel(&channel);
    pthread_mutex_lock(&lock);
    close(seat->fd);
    seat->taken = 0;
    pthread_cond_signal(&left);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Closing is left to its thread, so that the number of the connection is not another one's meanwhile. */
static void show_out_oldest(void) {
    struct seat *oldest = NULL;
    for (int i = 0; i < SEATS; i++)
        if (seats[i].taken && (oldest == NULL || seats[i].since < oldest->since)) oldest = &seats[i];
    if (oldest != NULL) shutdown(oldest->fd, SHUT_RDWR);
}

static void show_out_idle(void) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < SEATS; i++)
        if (seats[i].taken && !seats[i].waits && now() - seats[i].since > PATIENCE) shutdown(seats[i].fd, SHUT_RDWR);
    pthread_mutex_unlock(&lock);
}

static struct seat *free_seat(void) {
    for (;;) {
        for (int i = 0; i < SEATS; i++)
            if (!seats[i].taken) return &seats[i];
        show_out_oldest();
        pthread_cond_wait(&left, &lock);
    }
}

static void seat_client(int fd, const struct listener *listener, const pthread_attr_t *kind) {
    pthread_t thread;
    pthread_mutex_lock(&lock);
    struct seat *seat = free_seat();
    *seat = (struct seat){.fd = fd, .taken = 1, .since = now(), .listener = listener};
    if (pthread_create(&thread, kind, attend, seat) != 0) {
        close(fd);
        seat->taken = 0;
    }
    pthread_mutex_unlock(&lock);
}

static void greet(const struct listener *listener, const pthread_attr_t *kind) {
    int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0) {
        seat_client(fd, listener, kind);
        return;
    }
    pthread_mutex_lock(&lock); /* most likely no more files can be opened */
    show_out_oldest();
    pthread_mutex_unlock(&lock);
    usleep(10000);
}

void serve(const struct listener *listeners, int count) {
    struct pollfd watched[3];
    pthread_attr_t kind;
    pthread_attr_init(&kind);
    pthread_attr_setdetachstate(&kind, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&kind, STACK);
    for (int i = 0; i < count; i++) {
        watched[i] = (struct pollfd){.fd = listeners[i].fd, .events = POLLIN};
        if (listeners[i].tls && tls_context == NULL) prepare_tls();
    }
    for (;;) {
        poll(watched, (nfds_t)count, 1000);
        for (int i = 0; i < count; i++)
            if (watched[i].revents & POLLIN) greet(&listeners[i], &kind);
        show_out_idle();
    }
}
