/* What the parts of the stand-in share. livepeer.c says what the whole of it is. */
#ifndef NODE_H
#define NODE_H

#define _GNU_SOURCE /* asprintf, memmem: so this is the first file that each of them includes */

#include <stddef.h>
#include <stdio.h>

/* livepeer.c: settings, as flags and variables give them. */

enum role { NO_ROLE, GATEWAY, AI_WORKER, TRANSCODER, ORCHESTRATOR, SIGNER, REDEEMER };

enum role role(void);
int on_chain(void);
const char *value_of(const char *name);                     /* NULL: not given */
const char *text_of(const char *name, const char *default_); /* the value, or the default where there is none */
int given(const char *name);                                /* with a value that is not empty */
int is_on(const char *name);
char *data_file(const char *name); /* the path of a file in -dataDir, or NULL; the caller frees it */
void end(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
void say(const char *format, ...) __attribute__((format(printf, 1, 2))); /* a line on stderr */

/* illness.c: what a test has asked it to suffer from. */

struct illness {
    int exits, status, hang, unwell, noread, refuse, nolisten, inactive, documented;
    double die, slow; /* seconds; negative: not at all */
    double forgets;   /* seconds */
    char version[64], price[64], maxprice[64], account[64], chain[64], deposit[64], reserve[64], withdraw[64];
    char uri[64], pool[64], transcoders[64], unpaid[64], usd[64];
};

struct illness illness_now(void); /* words of the environment, and those that are in the file at this moment */
long sessions_now(void);

/* json.c: just enough to read what the node reads from files. */

struct json {
    char kind;                  /* { [ " for object, list, text; 0 for a number; t f n for true, false, null */
    char *key, *text;           /* the key in an object; the text, or the number as written */
    struct json *first, *next;  /* members, and the next one beside this */
};

char *whole_file(const char *path);            /* NULL where there is no such file; the caller frees it */
struct json *read_json(const char *text);      /* NULL where it is not JSON; lives as long as the process */
const struct json *member(const struct json *object, const char *key); /* keys are compared as Go does, or NULL */
void write_json_text(FILE *out, const char *text);

/* money.c: exact prices for one pixel, in wei. */

struct price {
    char *text;  /* in lowest terms, as Go's big.Rat writes it ("1200", "3/2"); NULL where there is a fault */
    char *fault; /* why it is no price; one of both is set, and the caller frees it */
    int sign;
};

struct price price_of(const char *amount, const char *pixels, const char *currency);
struct price price_of_flag(const char *name); /* -pricePerUnit or -maxPricePerUnit, over -pixelsPerUnit */
char *whole_price(const char *amount, const char *parts); /* dollars for so many units, in wei for one, or NULL */
int has_whole_pixels(void);                   /* whether -pixelsPerUnit is a positive integer */
char *whole_number(const char *text);         /* an integer of any size without superfluous characters, or NULL */

/* web.c: connections and HTTP. */

enum door { HTTP_DOOR, CLI_DOOR, RTMP_DOOR };

struct listener {
    int fd;
    enum door door;
    int tls;
};

#define MOST_PAIRS 32

struct request {
    char method[16];
    const char *path;
    enum door door;
    int pairs; /* of the form: those of the body first, as Go has it */
    struct {
        const char *name, *value;
    } form[MOST_PAIRS];
    const char *body; /* what was sent; of a form only its first name is left */
    char authorization[512]; /* the header field of this name, or empty */
    char fault[96]; /* what is wrong with the form, or empty */
    int only_claims; /* a setter is to answer without changing anything */
};

void serve(const struct listener *listeners, int count) __attribute__((noreturn));

/* answers.c: what the node says, and what can be set while it runs. */

enum { HANGS_UP = 0, NEVER_ANSWERS = -1 }; /* instead of a status */

void prepare_answers(void);
int answer(struct request *request, FILE *out); /* writes the body, returns the status */

__attribute__((format(printf, 3, 4))) int refuse(FILE *out, int status, const char *format, ...); /* its body and status */

/* runners.c: the live runners that it lists. */

void prepare_runners(void);
int register_runners(const struct request *request, FILE *out);
int discover_runners(const struct request *request, FILE *out);
int take_heartbeat(const struct request *request, FILE *out);
int unregister_runner(const struct request *request, FILE *out);

/* chain.c: what it says of its account and of others; see answers.c for what calls them. */

int get_account(const struct request *request, FILE *out);
int get_chain_id(const struct request *request, FILE *out);
int sender_info(const struct request *request, FILE *out);
int orchestrator_info(const struct request *request, FILE *out);
int documented_info(const struct request *request, FILE *out);
int documented_stats(const struct request *request, FILE *out);
void write_pool(FILE *out);

#endif
