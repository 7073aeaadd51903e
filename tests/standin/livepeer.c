/*
 * A STAND-IN for the livepeer node, for deploy tests. It is not the node and does no video, AI or chain work.
 *
 * In:  the node's flags, as the table in flags.h has them, and the LP_ variables of these. -httpAddr, -cliAddr and
 *      -rtmpAddr are acted on; prices, limits, -monitor and -v decide what it answers. STANDIN_ILL, and files in
 *      -dataDir, make it ill or busy: see illness.c.
 * Out: listeners: -cliAddr (see answers.c), /healthz on -httpAddr, and silence on -rtmpAddr; lines on stderr, those
 *      about flags on stdout. It never opens a connection, sends nothing else, and keeps nothing when it ends.
 *
 * This file has the settings, the start and the end; web.c has connections, money.c prices, json.c files of the node.
 *
 * Like the node: flags are read as Go's flag package reads them, so an unknown one or a bad literal ends it with status
 * 2 and parsing stops at the first bare word; a bad literal in a variable ends it with 1; so do, each with the node's
 * own status, a role without what it needs, settings that exclude one another and prices that are none (see `check`).
 * A taken port ends the process with status 0 and one line on stderr (2 for the orchestrator's -httpAddr). ":PORT"
 * means loopback, except for the orchestrator's -httpAddr, where it means all addresses; that one speaks TLS unless it
 * starts with http://, with a certificate of its own. -version prints and exits 0; SIGTERM ends it with 0.
 * With STANDIN_CHECK_ONLY in its environment it ends with 0 where it would listen.
 * Unlike the node: no config file, no number with underscores in it, no default listener, and no IPv6; a host other
 * than a number or "localhost" is taken as all addresses; the certificate is nowhere on disk.
 */
#include "node.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct flag {
    const char *name, *variable;
    char type; /* b bool, i integer, f float, d duration, s string */
};

#include "flags.h" /* FLAGS and FLAG_COUNT, made from the table of the node's flags */

static const char *values[FLAG_COUNT]; /* NULL: not given */

static void stop(int signal_number) {
    (void)signal_number;
    _exit(0);
}

static void die(int signal_number) {
    static const char LINE[] = "stand-in: die: the time has come\n";
    (void)signal_number;
    ssize_t ignored = write(STDERR_FILENO, LINE, sizeof LINE - 1);
    (void)ignored;
    _exit(1);
}

/* Without the handlers of exit(): other threads may still be at work. */
void end(int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(status == 2 ? stdout : stderr, format, arguments);
    fputs("\n", status == 2 ? stdout : stderr);
    va_end(arguments);
    fflush(stdout);
    _exit(status);
}

void say(const char *format, ...) {
    char *line = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&line, format, arguments) < 0) abort();
    va_end(arguments);
    for (char *sign = line; *sign != '\0'; sign++) /* a client must not write lines of its own */
        if (*sign > 0 && *sign < ' ') *sign = '?';
    fprintf(stderr, "stand-in: %s\n", line);
    free(line);
}

static int find(const char *name, size_t length) {
    for (int i = 0; i < FLAG_COUNT; i++)
        if (strlen(FLAGS[i].name) == length && strncmp(FLAGS[i].name, name, length) == 0) return i;
    return -1;
}

const char *value_of(const char *name) { return values[find(name, strlen(name))]; }

const char *text_of(const char *name, const char *default_) {
    const char *value = value_of(name);
    return value != NULL ? value : default_;
}

int given(const char *name) {
    const char *value = value_of(name);
    return value != NULL && value[0] != '\0';
}

static int is_word(const char *text, const char *words) {
    char framed[16];
    return snprintf(framed, sizeof framed, "|%s|", text) < (int)sizeof framed && strstr(words, framed) != NULL;
}

int is_on(const char *name) { return given(name) && is_word(value_of(name), "|1|t|T|true|TRUE|True|"); }

/* Of several, the node takes the first here and says nothing. */
enum role role(void) {
    return is_on("redeemer")                       ? REDEEMER
           : is_on("remoteSigner")                 ? SIGNER
           : is_on("orchestrator")                 ? ORCHESTRATOR
           : is_on("transcoder")                   ? TRANSCODER
           : is_on("aiWorker")                     ? AI_WORKER
           : is_on("gateway") || is_on("broadcaster") ? GATEWAY
                                                   : NO_ROLE;
}

static const char *network(void) { return text_of("network", "offchain"); }

int on_chain(void) { return strcmp(network(), "offchain") != 0; }

char *data_file(const char *name) {
    const char *directory = given("dataDir") ? value_of("dataDir") : value_of("datadir"), *home = getenv("HOME");
    char *path = NULL;
    int length = directory != NULL && *directory != '\0' ? asprintf(&path, "%s/%s", directory, name)
                 : home != NULL                          ? asprintf(&path, "%s/.lpData/%s/%s", home, network(), name)
                                                         : -1;
    return length < 0 ? NULL : path;
}

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
            end(1, "Error parsing config: error setting flag \"%s\" from env var \"%s\"", FLAGS[i].name,
                FLAGS[i].variable);
        values[i] = value;
    }
}

static void need(int holds, int status, const char *line) {
    if (!holds) end(status, "%s", line);
}

static int is_price(const char *flag) {
    struct price price = price_of_flag(flag);
    int sound = price.text != NULL;
    free(price.text);
    free(price.fault);
    return sound;
}

/* Off-chain the node reads no price at all. */
static void check_prices(void) {
    int sells = role() == ORCHESTRATOR, pays = role() == GATEWAY || role() == SIGNER;
    if (!on_chain() || (!sells && !pays)) return;
    need(!sells || is_on("aiWorker") || given("pricePerUnit"), 2, "panic: -pricePerUnit must be set");
    need(has_whole_pixels(), 2, "panic: -pixelsPerUnit must be an integer greater than 0");
    need(!sells || value_of("pricePerUnit") == NULL || is_price("pricePerUnit"), 2, "panic: -pricePerUnit is no price");
    need(!pays || is_price("maxPricePerUnit"), 2, "panic: -maxPricePerUnit is no price");
}

/* What the node asks of its settings when it starts; 2 stands for its panics too. */
static void check(void) {
    int orchestrator = role() == ORCHESTRATOR;
    const char *sessions = text_of("maxSessions", "10");
    int counted = sessions[strspn(sessions, "0123456789")] == '\0' && atol(sessions) > 0;
    int automatic = strcmp(sessions, "auto") == 0 && orchestrator;

    need(counted || (automatic && !is_on("transcoder")), 1, "-maxSessions must be a positive number or auto");
    need(!given("nvidia") || !given("netint"), 1, "both -nvidia and -netint arguments specified");
    need(on_chain() || role() != SIGNER, 2, "Remote signer mode requires on-chain network");
    need(role() != NO_ROLE || is_on("reward") || is_on("initializeRound"), 2,
         "No services enabled; must be at least one of -gateway, -transcoder, -aiWorker, -orchestrator, -redeemer, "
         "-reward or -initializeRound");
    need(!on_chain() || given("ethUrl"), 1, "Need to specify an Ethereum node JSON-RPC URL using -ethUrl");
    check_prices();
    if (!orchestrator) return;
    need(!is_on("useLiveRunners") || given("orchSecret") || given("liveRunnerConfig"), 1,
         "-orchSecret is required for live runners");
    need(is_on("transcoder") || is_on("aiWorker") || given("aiModels") || given("orchSecret"), 1,
         "Running an orchestrator requires an -orchSecret for standalone mode or -transcoder for "
         "orchestrator+transcoder mode");
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
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, SOMAXCONN) < 0) {
        fprintf(stderr, "stand-in: -%s: listen tcp %s: %s\n", name, value, strerror(errno));
        exit(status_if_taken);
    }
    fprintf(stderr, "stand-in: -%s listens on %s\n", name, value);
    return fd;
}

static void fall_ill(const struct illness *ill) {
    if (ill->exits) {
        say("exit=%d", ill->status);
        _exit(ill->status);
    }
    if (ill->die >= 0) {
        double seconds = ill->die < 0.001 ? 0.001 : ill->die; /* a timer of 0 would never ring */
        struct itimerval timer = {.it_value = {.tv_sec = (time_t)seconds}};
        timer.it_value.tv_usec = (suseconds_t)((seconds - (double)timer.it_value.tv_sec) * 1e6);
        signal(SIGALRM, die);
        setitimer(ITIMER_REAL, &timer, NULL);
    }
    if (ill->slow > 0) {
        struct timespec time = {(time_t)ill->slow, (long)((ill->slow - (double)(time_t)ill->slow) * 1e9)};
        while (nanosleep(&time, &time) != 0) continue;
    }
}

/* Only an orchestrator has TLS, all addresses, and a status of its own for a taken port. */
static int listen_on_all(struct listener *listeners, int with_cli) {
    static const char *const NAMES[] = {[HTTP_DOOR] = "httpAddr", [CLI_DOOR] = "cliAddr", [RTMP_DOOR] = "rtmpAddr"};
    int count = 0;
    for (enum door door = HTTP_DOOR; door <= RTMP_DOOR; door++) {
        int rpc = role() == ORCHESTRATOR && door == HTTP_DOOR;
        if (!given(NAMES[door]) || (door == CLI_DOOR && !with_cli)) continue;
        const char *value = value_of(NAMES[door]);
        int fd = listen_on(NAMES[door], value, rpc, rpc ? 2 : 0);
        listeners[count++] = (struct listener){fd, door, rpc && strncmp(value, "http://", 7) != 0};
    }
    return count;
}

int main(int argc, char **argv) {
    struct listener listeners[3];
    signal(SIGTERM, stop);
    signal(SIGINT, stop);
    signal(SIGPIPE, SIG_IGN);
    parse(argc, argv);
    struct illness ill = illness_now();
    if (is_on("version") || is_on("j")) {
        printf("Livepeer Node Version: %s\n", ill.version);
        if (is_on("version")) puts("Golang runtime version: gc none\nArchitecture: none\nOperating system: linux");
        return 0;
    }
    check();
    if (getenv("STANDIN_CHECK_ONLY")) return 0;
    fall_ill(&ill);
    prepare_answers();
    serve(listeners, listen_on_all(listeners, !ill.nolisten));
}
