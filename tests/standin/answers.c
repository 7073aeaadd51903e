/*
 * What the node says over HTTP, and what can be set while it runs.
 *
 * In:  requests, the settings, and the illness of the moment. Out: a status and a body for each.
 *
 * The order of the checks, the words of the answers and the traps are those of the node: a price is kept when the
 * presets beside it are refused, presets are not trimmed, an address may be followed by anything, `auto` without remote
 * transcoders and a cap of 0 with -monitor end the connection. Everything set here is lost when the process ends.
 *
 * Unlike the node: whatever would send a transaction answers 500 and leaves a line on stderr; what it says of the chain
 * is in chain.c, live runners are in runners.c, and other questions about it are not there (404); forms are read from
 * bodies that are urlencoded only.
 */
#include "node.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define LOWEST_CAPABILITY (-2)

static const char *const CAPABILITIES[] = {
    "Invalid", "Unused", "H.264", "MPEGTS", "MP4", "Fractional framerates", "Storage direct", "Storage S3",
    "Storage GCS", "H264 Baseline profile", "H264 Main profile", "H264 High profile",
    "H264 Constrained, Contained High profile", "GOP", "Auth token", NULL /* no longer there */, "MPEG7 signature",
    "HEVC decode", "HEVC encode", "VP8 decode", "VP9 decode", "VP8 encode", "VP9 encode",
    "H264 Decode YUV444 8-bit", "H264 Decode YUV422 8-bit", "H264 Decode YUV444 10-bit",
    "H264 Decode YUV422 10-bit", "H264 Decode YUV420 10-bit", "Segment slicing", "Text to image", "Image to image",
    "Image to video", "Upscale", "Audio to text", "Segment anything 2", "Llm", "Image to text",
    "Live video to video", "Text to speech", "byoc",
};
#define CAPABILITY_COUNT (int)(sizeof CAPABILITIES / sizeof *CAPABILITIES)

static const char *const PRESETS[] = {
    "P720p60fps16x9", "P720p30fps16x9", "P720p25fps16x9", "P720p30fps4x3",  "P576p30fps16x9", "P576p25fps16x9",
    "P360p30fps16x9", "P360p25fps16x9", "P360p30fps4x3",  "P240p30fps16x9", "P240p25fps16x9", "P240p30fps4x3",
    "P144p30fps16x9",
};

struct offer {
    char *gateway, *price; /* the address in lower case, or "default" */
    struct offer *next;    /* in ascending order */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for all below, and held for a whole answer */
static struct offer *offers;
static char *max_price;           /* NULL: any */
static char *renditions;          /* names with commas between them */
static char *most_gas, *least_gas; /* in wei; no cap is NULL */
static long most_sessions;
static int log_level;

static char *copy(const char *text) {
    char *copied = strdup(text);
    if (copied == NULL) abort();
    return copied;
}

static void replace(char **place, char *text) {
    free(*place);
    *place = text;
}

static char *in_lower_case(const char *text) {
    char *lower = copy(text);
    for (char *letter = lower; *letter != '\0'; letter++)
        if (*letter >= 'A' && *letter <= 'Z') *letter += 'a' - 'A';
    return lower;
}

static void offer(const char *gateway, const char *price) {
    struct offer **place = &offers;
    char *key = in_lower_case(gateway);
    while (*place != NULL && strcmp((*place)->gateway, key) < 0) place = &(*place)->next;
    if (*place != NULL && strcmp((*place)->gateway, key) == 0) {
        replace(&(*place)->price, copy(price));
        free(key);
        return;
    }
    struct offer *added = calloc(1, sizeof *added);
    if (added == NULL) abort();
    *added = (struct offer){key, copy(price), *place};
    *place = added;
}

static int is_preset(const char *name) {
    for (size_t i = 0; i < sizeof PRESETS / sizeof *PRESETS; i++)
        if (strcmp(PRESETS[i], name) == 0) return 1;
    return 0;
}

/* The known ones of a list, with commas between them; empty where there are none. */
static char *known_presets(const char *list, int trims) {
    char *words = copy(list), *rest = words, *word, *known = NULL;
    size_t size;
    FILE *out = open_memstream(&known, &size);
    while ((word = strsep(&rest, ",")) != NULL) {
        if (trims) word = strtok_r(word, " \t\r\n", &(char *){NULL});
        if (word != NULL && is_preset(word)) fprintf(out, "%s%s", ftell(out) > 0 ? "," : "", word);
    }
    fclose(out);
    free(words);
    return known;
}

/* What is set when the process starts. */

static void offer_to_gateway(const struct json *entry) {
    const struct json *address = member(entry, "ethaddress"), *amount = member(entry, "priceperunit");
    const struct json *pixels = member(entry, "pixelsperunit"), *currency = member(entry, "currency");
    if (amount == NULL || pixels == NULL) end(2, "panic: -pricePerGateway: an entry without both numbers");
    const char *name = address != NULL && address->kind == '"' ? address->text : "";
    struct price price =
        price_of(amount->text, pixels->text, currency != NULL && currency->kind == '"' ? currency->text : "");
    if (price.text == NULL) end(2, "panic: -pricePerGateway: %s: %s", name, price.fault);
    offer(name, price.text);
    free(price.text);
}

/* Whether a number is one: the node then passes over the whole list. */
static int has_numbers(const struct json *entry) {
    static const char *const KEYS[] = {"priceperunit", "pixelsperunit"};
    for (int i = 0; i < 2; i++) {
        const struct json *number = member(entry, KEYS[i]);
        if (number != NULL && number->kind != 0) return 0;
    }
    return entry->kind == '{';
}

static void offer_to_gateways(void) {
    static const char *const LISTS[] = {"broadcasters", "gateways"};
    const char *value = given("pricePerBroadcaster") ? value_of("pricePerBroadcaster") : text_of("pricePerGateway", "");
    if (*value == '\0') return;
    char *file = whole_file(value);
    const struct json *whole = read_json(file != NULL && *file != '\0' ? file : value);
    int sound = whole != NULL && whole->kind == '{';
    for (int pass = 0; pass < 2; pass++) /* nothing is offered unless all can be read */
        for (int i = 0; sound && i < 2; i++) {
            const struct json *list = member(whole, LISTS[i]);
            for (const struct json *one = list == NULL ? NULL : list->first; one != NULL; one = one->next)
                if (pass == 0) sound = sound && has_numbers(one);
                else offer_to_gateway(one);
        }
    if (!sound) say("gateway prices could not be parsed: %s", value);
    free(file);
}

static void set_start_prices(void) {
    int sells = role() == ORCHESTRATOR, pays = role() == GATEWAY || role() == SIGNER;
    if (!on_chain() || (!sells && !pays)) return;
    struct price price = {0};
    if (pays || value_of("pricePerUnit") != NULL) price = price_of_flag(pays ? "maxPricePerUnit" : "pricePerUnit");
    if (sells && price.text != NULL) offer("default", price.text);
    if (pays && price.sign > 0) max_price = price.text;
    else free(price.text);
    if (sells) offer_to_gateways();
}

static long number_in(const struct json *object, const char *key) {
    const struct json *found = member(object, key);
    return found != NULL && found->kind == 0 ? atol(found->text) : 0;
}

/* The names in a file of renditions. */
static char *names_of_renditions(const struct json *list) {
    char *names = NULL;
    size_t size;
    FILE *out = open_memstream(&names, &size);
    for (const struct json *one = list->first; one != NULL; one = one->next) {
        const struct json *name = member(one, "name");
        long width = number_in(one, "width"), height = number_in(one, "height"), bitrate = number_in(one, "bitrate");
        if (ftell(out) > 0) fputc(',', out);
        if (name != NULL && name->kind == '"' && *name->text != '\0') fputs(name->text, out);
        else fprintf(out, "custom_%ldx%ld_%ld", width, height, bitrate);
    }
    fclose(out);
    return names;
}

static void set_start_renditions(void) {
    const char *value = text_of("transcodingOptions", "P240p30fps16x9,P360p30fps16x9");
    renditions = copy("P240p30fps4x3,P360p30fps16x9"); /* what the node has before it reads the flag */
    if (role() != GATEWAY || *value == '\0') return;
    char *file = whole_file(value);
    const struct json *list = file == NULL ? NULL : read_json(file);
    replace(&renditions, list != NULL ? names_of_renditions(list) : known_presets(value, 1));
    free(file);
}

void prepare_answers(void) {
    const char *level = text_of("v", "3");
    char *rest;
    long most = strtol(text_of("maxGasPrice", "0"), NULL, 0);
    const char *usual = strcmp(text_of("network", ""), "mainnet") == 0 ? "1000000000" : "0";
    set_start_prices();
    set_start_renditions();
    prepare_runners();
    if (most > 0 && asprintf(&most_gas, "%ld", most) < 0) abort();
    if (asprintf(&least_gas, "%ld", strtol(text_of("minGasPrice", usual), NULL, 0)) < 0) abort();
    most_sessions = atol(text_of("maxSessions", "10")); /* 0 for auto, as in the node */
    log_level = (int)strtol(level, &rest, 10);
    if (*rest != '\0') log_level = 0;
}

/* Answers. Each writes a body and returns a status. */

int refuse(FILE *out, int status, const char *format, ...) {
    char *words = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&words, format, arguments) < 0) abort();
    va_end(arguments);
    say("answers %d: %s", status, words);
    fprintf(out, "%s\n", words);
    free(words);
    return status;
}

static const char *field(const struct request *request, const char *name) {
    for (int i = 0; i < request->pairs; i++)
        if (strcmp(request->form[i].name, name) == 0) return request->form[i].value;
    return "";
}

static int not_found(FILE *out) {
    fputs("404 page not found\n", out);
    return 404;
}

static int healthz(const struct request *request, FILE *out) {
    struct illness ill = illness_now();
    (void)request;
    if (ill.hang) return NEVER_ANSWERS;
    if (ill.unwell) return refuse(out, 503, "stand-in: unwell");
    return 200;
}

static void write_streams(FILE *out, const char *name, const char *value, long count) {
    fprintf(out, "\"%s\":{", name);
    for (long i = 1; i <= count; i++) fprintf(out, "%s\"standin-%05ld\":%s", i > 1 ? "," : "", i, value);
    fputs("},", out);
}

static void write_offers(FILE *out, const char *instead) {
    int written = 0, found = 0;
    for (const struct offer *one = offers; one != NULL; one = one->next) {
        int replaced = *instead != '\0' && strcmp(one->gateway, "default") == 0;
        if (written++) fputc(',', out);
        write_json_text(out, one->gateway);
        fputc(':', out);
        write_json_text(out, replaced ? instead : one->price);
        found |= replaced;
    }
    if (*instead == '\0' || found) return;
    fputs(written ? ",\"default\":" : "\"default\":", out);
    write_json_text(out, instead);
}

/* Two fields that the documentation of the node has, and the node does not. */
static void write_documented(FILE *out) {
    fprintf(out, "\"SessionLimit\":%ld,", most_sessions);
    for (const struct offer *one = offers; one != NULL; one = one->next)
        if (strcmp(one->gateway, "default") == 0) {
            fputs("\"PricePerUnit\":", out);
            write_json_text(out, one->price);
            fputc(',', out);
        }
}

/* Only a gateway has streams of its own: what an orchestrator works on is in no field here, only in its metrics. */
static int status(const struct request *request, FILE *out) {
    struct illness ill = illness_now();
    long streams = role() == GATEWAY ? sessions_now() : 0;
    (void)request;
    if (ill.hang) return NEVER_ANSWERS;
    fputc('{', out);
    write_streams(out, "Manifests", "{\"Variants\":null,\"Args\":\"\",\"CypherVersion\":\"\"}", streams);
    fputs("\"InternalManifests\":{},", out);
    write_streams(out, "StreamInfo", "{\"SourceBytes\":0,\"TranscodedBytes\":0}", streams);
    fputs("\"OrchestratorPool\":", out);
    write_pool(out);
    fputs(",\"OrchestratorPoolInfos\":null,\"Version\":", out);
    write_json_text(out, ill.version);
    fprintf(out, ",\"GolangRuntimeVersion\":\"none\",\"GOArch\":\"none\",\"GOOS\":\"linux\",");
    fprintf(out, "\"RegisteredTranscodersNumber\":%s,\"RegisteredTranscoders\":[],\"LocalTranscoding\":%s,",
            *ill.transcoders != '\0' ? ill.transcoders : "0",
            role() == ORCHESTRATOR && !is_on("transcoder") ? "false" : "true");
    if (ill.documented) write_documented(out);
    fputs("\"BroadcasterPrices\":{", out);
    write_offers(out, role() == ORCHESTRATOR ? ill.price : "");
    fputs("}}", out);
    return 200;
}

static int is_orchestrator(const struct request *request, FILE *out) {
    (void)request;
    fputs(role() == ORCHESTRATOR ? "true" : "false", out);
    return 200;
}

static int get_broadcast_config(const struct request *request, FILE *out) {
    struct illness ill = illness_now();
    const char *price = *ill.maxprice != '\0' ? ill.maxprice : max_price;
    (void)request;
    fputs("{\"MaxPrice\":", out);
    if (price == NULL || strcmp(price, "null") == 0) fputs("null", out);
    else write_json_text(out, price);
    fputs(",\"TranscodingOptions\":", out);
    write_json_text(out, renditions);
    fputc('}', out);
    return 200;
}

/* The node says what is wrong, and then answers all the same. */
static int get_network_capabilities(const struct request *request, FILE *out) {
    (void)request;
    if (role() != GATEWAY) return refuse(out, 400, "Node must be gateway node to get network capabilities");
    int result = on_chain() ? 200 : refuse(out, 500, "network capabilities not available");
    fputs("{\"capabilities_names\":{", out);
    for (int i = 0; i < CAPABILITY_COUNT; i++) {
        if (CAPABILITIES[i] == NULL) continue;
        fprintf(out, "%s\"%d\":", i > 0 ? "," : "", i + LOWEST_CAPABILITY);
        write_json_text(out, CAPABILITIES[i]);
    }
    fprintf(out, "},\"orchestrators\":%s}", on_chain() ? "[]" : "null");
    return result;
}

static void write_metric(FILE *out, const char *name, const char *help, const char *labels, long value) {
    fprintf(out, "# HELP livepeer_%s %s\n# TYPE livepeer_%s gauge\n", name, help, name);
    fprintf(out, "livepeer_%s{%s} %ld\n", name, labels, value);
}

static int metrics(const struct request *request, FILE *out) {
    static const char *const TYPES[] = {
        [NO_ROLE] = "dflt",      [GATEWAY] = "bctr", [AI_WORKER] = "aiwk", [TRANSCODER] = "trcr",
        [ORCHESTRATOR] = "orch", [SIGNER] = "dflt",  [REDEEMER] = "rdmr",
    };
    const char *type = TYPES[role()], *account = text_of("ethAcctAddr", "");
    char host[256] = "", labels[512];
    (void)request;
    if (!is_on("monitor")) return not_found(out);
    gethostname(host, sizeof host - 1);
    const char *dash = *account != '\0' ? "-" : "";
    snprintf(labels, sizeof labels, "node_id=\"%.100s%s%s\",node_type=\"%s\"", account, dash, host, type);
    write_metric(out, "current_sessions_total", "Number of streams currently transcoding", labels, sessions_now());
    write_metric(out, "max_sessions_total", "Max Sessions", labels, most_sessions);
    if (*illness_now().unpaid != '\0')
        write_metric(out, "payment_create_errors", "Payments that failed", labels, atol(illness_now().unpaid));
    snprintf(labels, sizeof labels, "livepeerversion=\"%s\",node_type=\"%s\"", illness_now().version, type);
    write_metric(out, "versions", "Version information.", labels, 1);
    return 200;
}

static int get_log_level(const struct request *request, FILE *out) {
    (void)request;
    fprintf(out, "%d", log_level);
    return 200;
}

static int get_most_gas(const struct request *request, FILE *out) {
    (void)request;
    if (most_gas != NULL) fputs(most_gas, out);
    return 200;
}

static int get_least_gas(const struct request *request, FILE *out) {
    (void)request;
    fputs(least_gas, out);
    return 200;
}

/* Setters. */

static int set_cap(const struct request *request, FILE *out, const char *amount, const char *pixels) {
    struct price price = price_of(amount, pixels, "");
    if (price.sign > 0 && price.text != NULL) { /* the currency of what is not above 0 is never looked at */
        free(price.text);
        price = price_of(amount, pixels, field(request, "currency"));
    }
    if (price.text == NULL) {
        if (strncmp(price.fault, "error parsing", 13) == 0) price.fault[0] = 'E';
        refuse(out, 400, "%s", price.fault);
        free(price.fault);
        return 400;
    }
    if (request->only_claims || price.sign <= 0) replace(&price.text, NULL);
    if (!request->only_claims) {
        say("maximum price for a pixel: %s wei", price.text != NULL ? price.text : "any");
        replace(&max_price, price.text);
    }
    return 200;
}

static int set_broadcast_config(const struct request *request, FILE *out) {
    const char *amount = field(request, "maxPricePerUnit"), *pixels = field(request, "pixelsPerUnit");
    const char *options = field(request, "transcodingOptions");
    int priced = *amount != '\0' && *pixels != '\0';
    if (!priced && *options == '\0')
        return refuse(out, 400, "missing form params (maxPricePerUnit AND pixelsPerUnit) or transcodingOptions");
    if (priced && set_cap(request, out, amount, pixels) != 200) return 400;
    if (*options == '\0') return 200;
    char *known = known_presets(options, 0);
    int found = *known != '\0';
    if (found && !request->only_claims) replace(&renditions, copy(known));
    free(known);
    return found ? 200 : refuse(out, 400, "invalid transcoding options: %s", options);
}

/* The node looks for a pipeline among the names of its capabilities: "text-to-image" is "Text to image". */
static int is_pipeline(const char *pipeline) {
    char name[64];
    if (snprintf(name, sizeof name, "%s", pipeline) >= (int)sizeof name) return 0;
    if (name[0] >= 'a' && name[0] <= 'z') name[0] -= 'a' - 'A';
    for (char *sign = name + 1; *sign != '\0'; sign++)
        if (*sign == '-') *sign = ' ';
    for (int i = 0; i < CAPABILITY_COUNT; i++)
        if (CAPABILITIES[i] != NULL && strcmp(CAPABILITIES[i], name) == 0) return 1;
    return 0;
}

/* Nothing reads this cap back: it is a line in the log, here as there. */
static int set_max_price_for_capability(const struct request *request, FILE *out) {
    const char *amount = field(request, "maxPricePerUnit"), *pipeline = field(request, "pipeline");
    if (role() != GATEWAY) return refuse(out, 400, "Node must be gateway node to set max price per capability");
    if (!is_pipeline(pipeline)) return refuse(out, 400, "pipeline not supported");
    struct price price = price_of(amount, field(request, "pixelsPerUnit"), field(request, "currency"));
    int result = 200;
    if (price.fault != NULL && strncmp(price.fault, "error parsing", 13) == 0) price.fault[0] = 'E';
    if (price.fault != NULL) result = refuse(out, 400, "%s", price.fault);
    else if (price.sign <= 0) result = refuse(out, 400, "pricePerPixel needs to be > 0: %s", price.text);
    else if (!request->only_claims)
        say("maximum price for %s %s: %s wei", pipeline, field(request, "modelID"), price.text);
    free(price.text);
    free(price.fault);
    return result;
}

/* A whole address, whatever follows it, or anything that ends in "default": the node's pattern has no brackets. */
static int is_address(const char *text) {
    size_t length = strlen(text);
    if (length >= 7 && strcmp(text + length - 7, "default") == 0) return 1;
    return strncmp(text, "0x", 2) == 0 && strspn(text + 2, "0123456789abcdefABCDEF") >= 40;
}

/* NULL, or what is wrong, which the caller frees. */
static char *set_offer(const struct request *request, const char *gateway) {
    const char *amount = field(request, "pricePerUnit");
    char *fault = NULL;
    if (!is_address(gateway)) {
        if (asprintf(&fault, "broadcasterEthAddr is not a valid eth address, provided %s", gateway) < 0) abort();
        return fault;
    }
    struct price price = price_of(amount, field(request, "pixelsPerUnit"), field(request, "currency"));
    if (price.text != NULL && price.sign < 0) {
        if (asprintf(&price.fault, "price unit must be greater than or equal to 0, provided %s", amount) < 0) abort();
    } else if (price.text != NULL && !request->only_claims) {
        say("price for %s: %s wei for a pixel", gateway, price.text);
        offer(gateway, price.text);
    }
    free(price.text);
    return price.fault;
}

static int refuse_and_free(FILE *out, char *fault) {
    refuse(out, 400, "%s", fault);
    free(fault);
    return 400;
}

static int set_price_for_broadcaster(const struct request *request, FILE *out) {
    const char *gateway = field(request, "broadcasterEthAddr");
    if (role() != ORCHESTRATOR) return refuse(out, 400, "Node must be orchestrator node to set price for broadcaster");
    char *fault = set_offer(request, gateway);
    if (fault != NULL) return refuse_and_free(out, fault);
    fprintf(out, "Price per pixel set to %s wei for %s pixels for broadcaster %s\n", field(request, "pricePerUnit"),
            field(request, "pixelsPerUnit"), gateway);
    return 200;
}

static int transaction(const struct request *request, FILE *out) {
    return refuse(out, 500, "stand-in: %s would send a transaction", request->path);
}

static int is_percentage(const char *text) {
    char *rest;
    strtod(text, &rest);
    return *text == '\0' || *rest == '\0';
}

/* The price first: it stays when the rest is refused. The node compares the rest with the chain, which is not here. */
static int set_orchestrator_config(const struct request *request, FILE *out) {
    const char *cut = field(request, "blockRewardCut"), *share = field(request, "feeShare");
    if (*field(request, "pixelsPerUnit") != '\0' && *field(request, "pricePerUnit") != '\0') {
        char *fault = set_offer(request, "default");
        if (fault != NULL) return refuse_and_free(out, fault);
    }
    if (!is_percentage(cut)) return refuse(out, 400, "Cannot convert block reward cut: %s", cut);
    if (!is_percentage(share)) return refuse(out, 400, "Cannot convert fee share: %s", share);
    if ((*cut != '\0' && *share != '\0') || *field(request, "serviceURI") != '\0') return transaction(request, out);
    return 200;
}

/* Go's strconv.Atoi: a number, or 400 and its words. */
static int read_count(FILE *out, const char *text, long *count) {
    char *number = whole_number(text), *rest;
    errno = 0;
    *count = number == NULL ? 0 : strtol(number, &rest, 10);
    int fits = errno == 0;
    if (number == NULL) refuse(out, 400, "strconv.Atoi: parsing \"%s\": invalid syntax", text);
    else if (!fits) refuse(out, 400, "strconv.Atoi: parsing \"%s\": value out of range", text);
    free(number);
    return number != NULL && fits;
}

/* `auto` counts remote transcoders, of which there are none; a node that has no place for them panics. */
static int set_max_sessions(const struct request *request, FILE *out) {
    const char *text = field(request, "maxSessions");
    long count = 0;
    if (strcmp(text, "auto") == 0) {
        if (role() != ORCHESTRATOR || is_on("transcoder")) return HANGS_UP;
        fputs("Max sessions set to auto\n", out);
    } else {
        if (!read_count(out, text, &count)) return 400;
        if (count <= 0) return refuse(out, 400, "Max Sessions must be 'auto' or greater than zero");
        fprintf(out, "Max sessions set to %ld\n", count);
    }
    if (!request->only_claims) {
        most_sessions = count;
        say("most sessions: %ld", count);
    }
    return 200;
}

static int set_max_face_value(const struct request *request, FILE *out) {
    if (role() != ORCHESTRATOR) return refuse(out, 400, "node must be orchestrator node to set maxfacevalue");
    char *number = whole_number(field(request, "maxfacevalue"));
    if (number == NULL) return refuse(out, 400, "maxfacevalue not set to number");
    if (!request->only_claims) say("most that a ticket is worth: %s wei", number);
    free(number);
    fputs("ticket max face value set", out);
    return 200;
}

/* To remove the cap while there are metrics panics, after the cap that is read back has gone. */
static int set_most_gas(const struct request *request, FILE *out) {
    const char *amount = field(request, "amount");
    char *number = whole_number(amount);
    int removes = strcmp(amount, "0") == 0;
    if (number == NULL) return refuse(out, 400, "Parsing failed for price: failed to parse big integer");
    if (removes) replace(&number, NULL);
    if (request->only_claims) free(number);
    else replace(&most_gas, number);
    return removes && is_on("monitor") ? HANGS_UP : 200;
}

static int set_least_gas(const struct request *request, FILE *out) {
    char *number = whole_number(field(request, "minGasPrice"));
    if (number == NULL) return refuse(out, 400, "invalid minGasPrice: failed to parse big integer");
    if (request->only_claims) free(number);
    else replace(&least_gas, number);
    return 200;
}

static int set_log_level(const struct request *request, FILE *out) {
    char *number = whole_number(field(request, "loglevel"));
    if (number == NULL) return refuse(out, 400, "parameter 'logLevel' not defined");
    if (!request->only_claims) log_level = atoi(number);
    free(number);
    return 200;
}

/* The endpoints. */

static const struct endpoint {
    const char *path;
    int (*answer)(const struct request *request, FILE *out);
    int needs_chain;
    const char *needed; /* fields that must not be empty; NULL: the form is not looked at */
} ENDPOINTS[] = {
    {"/status", status, 0, NULL},
    {"/IsOrchestrator", is_orchestrator, 0, NULL},
    {"/getBroadcastConfig", get_broadcast_config, 0, NULL},
    {"/getNetworkCapabilities", get_network_capabilities, 0, NULL},
    {"/getLogLevel", get_log_level, 0, NULL},
    {"/maxGasPrice", get_most_gas, 1, NULL},
    {"/minGasPrice", get_least_gas, 1, NULL},
    {"/metrics", metrics, 0, NULL},
    {"/ethAddr", get_account, 1, NULL},
    {"/EthChainID", get_chain_id, 1, NULL},
    {"/senderInfo", sender_info, 1, NULL},
    {"/orchestratorInfo", orchestrator_info, 1, NULL},

    {"/setBroadcastConfig", set_broadcast_config, 0, ""},
    {"/setMaxPriceForCapability", set_max_price_for_capability, 0,
     "maxPricePerUnit pixelsPerUnit currency pipeline modelID"},
    {"/setPriceForBroadcaster", set_price_for_broadcaster, 0, "pricePerUnit pixelsPerUnit broadcasterEthAddr"},
    {"/setOrchestratorConfig", set_orchestrator_config, 1, ""},
    {"/setMaxSessions", set_max_sessions, 0, "maxSessions"},
    {"/setMaxFaceValue", set_max_face_value, 0, "maxfacevalue"},
    {"/setMaxGasPrice", set_most_gas, 1, "amount"},
    {"/setMinGasPrice", set_least_gas, 1, "minGasPrice"},
    {"/setLogLevel", set_log_level, 0, "loglevel"},
    {"/registerLiveRunners", register_runners, 0, NULL},

    {"/activateOrchestrator", transaction, 1, "blockRewardCut feeShare pricePerUnit pixelsPerUnit serviceURI"},
    {"/bond", transaction, 1, "amount toAddr"},
    {"/rebond", transaction, 1, "unbondingLockId"},
    {"/unbond", transaction, 1, "amount"},
    {"/withdrawStake", transaction, 1, "unbondingLockId"},
    {"/withdrawFees", transaction, 1, NULL},
    {"/claimEarnings", transaction, 1, NULL},
    {"/reward", transaction, 1, NULL},
    {"/initializeRound", transaction, 1, NULL},
    {"/transferTokens", transaction, 1, "to amount"},
    {"/requestTokens", transaction, 1, NULL},
    {"/signMessage", transaction, 1, "message"},
    {"/vote", transaction, 1, "poll choiceID"},
    {"/voteOnProposal", transaction, 1, "proposalID support"},
    {"/fundDepositAndReserve", transaction, 1, "depositAmount reserveAmount"},
    {"/fundDeposit", transaction, 1, "amount"},
    {"/unlock", transaction, 1, NULL},
    {"/cancelUnlock", transaction, 1, NULL},
    {"/withdraw", transaction, 1, NULL},
};

/* The first needed field that is empty, or NULL; it lies in `room`. */
static const char *missing_field(const struct request *request, const char *needed, char *room, size_t size) {
    snprintf(room, size, "%s", needed);
    for (char *rest = room, *name; (name = strsep(&rest, " ")) != NULL;)
        if (*name != '\0' && *field(request, name) == '\0') return name;
    return NULL;
}

static int answer_at(const struct endpoint *endpoint, struct request *request, FILE *out) {
    struct illness ill = illness_now();
    char room[128];
    const char *missing = endpoint->needed == NULL ? NULL : missing_field(request, endpoint->needed, room, sizeof room);
    int sets = strncmp(endpoint->path, "/set", 4) == 0 || endpoint->answer == register_runners;
    if (sets && ill.refuse) return refuse(out, 500, "stand-in: refuse");
    if (endpoint->needed != NULL && *request->fault != '\0')
        return refuse(out, 500, "parse form error: %s", request->fault);
    if (missing != NULL) return refuse(out, 400, "missing form param: %s", missing);
    if (endpoint->needs_chain && !on_chain()) return refuse(out, 500, "missing ETH client");
    request->only_claims = ill.noread;
    pthread_mutex_lock(&lock);
    int result = endpoint->answer(request, out);
    pthread_mutex_unlock(&lock);
    return result;
}

/* What only the documentation says is on the listener for work, if a test wants it there. */
static const struct endpoint DOCUMENTED[] = {
    {"/status", status, 0, NULL},
    {"/getOrchestratorInfo", documented_info, 0, NULL},
    {"/hardware/stats", documented_stats, 0, NULL},
};

static const struct endpoint OF_RUNNERS[] = {
    {"/discovery", discover_runners, 0, NULL},
    {"/runners/heartbeat", take_heartbeat, 0, NULL},
};
static const struct endpoint UNREGISTER = {"/unregister", unregister_runner, 0, NULL}; /* below /runners/ID */

static int ends_with(const char *text, const char *end) {
    size_t length = strlen(text), most = strlen(end);
    return length > most && strcmp(text + length - most, end) == 0;
}

static int answer_about_runners(struct request *request, FILE *out) {
    for (size_t i = 0; i < sizeof OF_RUNNERS / sizeof *OF_RUNNERS; i++)
        if (strcmp(OF_RUNNERS[i].path, request->path) == 0) return answer_at(&OF_RUNNERS[i], request, out);
    if (strncmp(request->path, "/runners/", 9) == 0 && ends_with(request->path, UNREGISTER.path))
        return answer_at(&UNREGISTER, request, out);
    return not_found(out);
}

static int answer_for_work(struct request *request, FILE *out) {
    int serves = role() == GATEWAY || role() == ORCHESTRATOR || role() == SIGNER;
    if (serves && strcmp(request->path, "/healthz") == 0) return healthz(request, out);
    for (size_t i = 0; illness_now().documented && i < sizeof DOCUMENTED / sizeof *DOCUMENTED; i++)
        if (strcmp(DOCUMENTED[i].path, request->path) == 0) return answer_at(&DOCUMENTED[i], request, out);
    return role() == ORCHESTRATOR ? answer_about_runners(request, out) : not_found(out);
}

int answer(struct request *request, FILE *out) {
    if (request->door == HTTP_DOOR) return answer_for_work(request, out);
    for (size_t i = 0; i < sizeof ENDPOINTS / sizeof *ENDPOINTS; i++)
        if (strcmp(ENDPOINTS[i].path, request->path) == 0) return answer_at(&ENDPOINTS[i], request, out);
    return not_found(out);
}
