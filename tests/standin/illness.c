/*
 * What a test has asked the stand-in to suffer from.
 *
 * In:  words from the variable STANDIN_ILL, which belongs to a release, and from the file `standin-ill` in -dataDir,
 *      which belongs to the host and wins; words are separated by commas. A number from `standin-sessions` beside it.
 * Out: `illness_now` and `sessions_now`. Both read the files again each time, so a test can change its mind.
 *
 *   exit=N         ends with status N at once       version=X    what /status and -version say
 *   die=SECONDS    ends with status 1 after so long price=X      the default price that /status of an orchestrator says
 *   slow=SECONDS   listens only after so long       maxprice=X   what /getBroadcastConfig says
 *   nolisten       has no -cliAddr                  hang         takes connections, never answers /healthz and /status
 *   noread         setters say yes and do nothing   unwell       /healthz answers 503
 *   refuse         setters answer 500               unpaid=N     payments that its metrics say it could not make
 *   account=X      what /ethAddr says               chain=N      what /EthChainID says
 *   deposit=WEI    what /senderInfo says, and so    reserve=WEI, withdraw=ROUND
 *   uri=X          the address in /orchestratorInfo inactive     it is not in the active set
 *   pool=X         an orchestrator that it knows, or none
 *   transcoders=N  those that /status says are connected
 *   usd=N          dollars that an ether is worth to its price feed; 2000 otherwise
 *   forgets=SECONDS after so long without a heartbeat a live runner is gone; 20 otherwise
 *   documented     answers as its documentation has it: SessionLimit and PricePerUnit in /status, and on -httpAddr
 *                  /status, /getOrchestratorInfo and /hardware/stats
 *
 * A word that is not here ends the process with status 3, whenever it is read: a slip must not make a test pass.
 */
#include "node.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef STANDIN_VERSION
#define STANDIN_VERSION "0.9.1-standin"
#endif
#define PLACE(field) offsetof(struct illness, field)

static const struct {
    const char *name;
    char kind; /* w nothing follows, s text, n a status, d seconds */
    size_t place;
} WORDS[] = {
    {"exit", 'n', PLACE(status)},     {"die", 'd', PLACE(die)},         {"slow", 'd', PLACE(slow)},
    {"version", 's', PLACE(version)}, {"price", 's', PLACE(price)},     {"maxprice", 's', PLACE(maxprice)},
    {"hang", 'w', PLACE(hang)},       {"unwell", 'w', PLACE(unwell)},   {"noread", 'w', PLACE(noread)},
    {"refuse", 'w', PLACE(refuse)},   {"nolisten", 'w', PLACE(nolisten)}, {"account", 's', PLACE(account)},
    {"chain", 's', PLACE(chain)},     {"deposit", 's', PLACE(deposit)},   {"reserve", 's', PLACE(reserve)},
    {"withdraw", 's', PLACE(withdraw)}, {"uri", 's', PLACE(uri)},         {"pool", 's', PLACE(pool)},
    {"transcoders", 's', PLACE(transcoders)}, {"unpaid", 's', PLACE(unpaid)}, {"inactive", 'w', PLACE(inactive)},
    {"documented", 'w', PLACE(documented)}, {"usd", 's', PLACE(usd)},   {"forgets", 'd', PLACE(forgets)},
};

static int take_status(struct illness *ill, const char *value) {
    char *rest;
    long status = strtol(value, &rest, 10);
    ill->exits = 1;
    ill->status = (int)status;
    return rest != value && *rest == '\0' && status >= 0 && status <= 255;
}

static int take_seconds(double *seconds, const char *value) {
    char *rest;
    *seconds = strtod(value, &rest);
    return rest != value && *rest == '\0' && isfinite(*seconds) && *seconds >= 0 && *seconds < 1e6;
}

static int take_text(char *place, const char *value) {
    size_t length = strlen(value);
    if (length == 0 || length >= sizeof((struct illness *)NULL)->version) return 0;
    memcpy(place, value, length + 1);
    return 1;
}

static int take(struct illness *ill, char *word) {
    char *value = word, *name = strsep(&value, "=");
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        char *place = (char *)ill + WORDS[i].place;
        if (strcmp(WORDS[i].name, name) != 0) continue;
        if (WORDS[i].kind == 'w') return value == NULL && (*(int *)place = 1);
        if (value == NULL) return 0;
        if (WORDS[i].kind == 's') return take_text(place, value);
        return WORDS[i].kind == 'd' ? take_seconds((double *)place, value) : take_status(ill, value);
    }
    return 0;
}

static char *trimmed(char *text) {
    text += strspn(text, " \t\r\n");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL) length--;
    text[length] = '\0';
    return text;
}

static void take_all(struct illness *ill, const char *words, const char *where) {
    char *copy = strdup(words), *rest = copy, *word;
    while ((word = strsep(&rest, ",")) != NULL) {
        word = trimmed(word);
        char *whole = strdup(word);
        if (*word != '\0' && !take(ill, word)) end(3, "stand-in: %s: nothing known about \"%s\"", where, whole);
        free(whole);
    }
    free(copy);
}

/* The text of a file in -dataDir, or NULL where there is none. */
static char *data_text(const char *name) {
    char *path = data_file(name);
    char *text = path == NULL ? NULL : whole_file(path);
    free(path);
    return text;
}

struct illness illness_now(void) {
    struct illness ill = {.die = -1, .slow = -1, .forgets = 20, .version = STANDIN_VERSION, .usd = "2000"};
    const char *variable = getenv("STANDIN_ILL");
    char *file = data_text("standin-ill");
    if (variable != NULL) take_all(&ill, variable, "STANDIN_ILL");
    if (file != NULL) take_all(&ill, file, "standin-ill");
    free(file);
    return ill;
}

long sessions_now(void) {
    char *file = data_text("standin-sessions"), *rest;
    if (file == NULL) return 0;
    const char *number = trimmed(file);
    long sessions = strtol(number, &rest, 10);
    if (*rest != '\0' || sessions < 0 || sessions > 10000) end(3, "stand-in: standin-sessions: no number: %s", number);
    free(file);
    return sessions;
}
