/*
 * What the node says of its account, of what the chain has of it, and of others that it works with.
 *
 * In:  requests, the settings, and the illness of the moment. Out: a status and a body for each.
 *
 * Unlike the node: nobody is asked. The account is that of -ethAcctAddr, the chain that of -network, the address that
 * of -serviceAddr; it has 10 ETH as deposit and as reserve and is in the active set, unless a test says otherwise. Who
 * searches the chain, or asks others, finds one orchestrator, which does not exist.
 */
#include "node.h"

#include <stdlib.h>
#include <string.h>

#define NOBODY "0x0000000000000000000000000000000000000000"
#define TEN_ETH "10000000000000000000"
#define FOUND "https://orchestrator.example.net:8935"

/* The text of an illness, or the default where the test says nothing. */
static const char *said(const char *ill, const char *usual) { return *ill != '\0' ? ill : usual; }

int get_account(const struct request *request, FILE *out) {
    (void)request;
    fputs(said(illness_now().account, text_of("ethAcctAddr", NOBODY)), out);
    return 200;
}

int get_chain_id(const struct request *request, FILE *out) {
    const char *network = text_of("network", "");
    int layer_one = strcmp(network, "mainnet") == 0, layer_two = strcmp(network, "arbitrum-one-mainnet") == 0;
    const char *usual = layer_two ? "42161" : layer_one ? "1" : "1337";
    (void)request;
    fputs(said(illness_now().chain, usual), out);
    return 200;
}

int sender_info(const struct request *request, FILE *out) {
    struct illness ill = illness_now();
    (void)request;
    fprintf(out, "{\"Deposit\":%s,\"WithdrawRound\":%s,", said(ill.deposit, TEN_ETH), said(ill.withdraw, "0"));
    fprintf(out, "\"Reserve\":{\"FundsRemaining\":%s,\"ClaimedInCurrentRound\":0}}", said(ill.reserve, TEN_ETH));
    return 200;
}

static void write_url(FILE *out, const char *address) {
    char *url = NULL;
    if (asprintf(&url, "%s%s", strstr(address, "://") != NULL ? "" : "https://", address) < 0) abort();
    write_json_text(out, url);
    free(url);
}

int orchestrator_info(const struct request *request, FILE *out) {
    struct illness ill = illness_now();
    (void)request;
    fputs("{\"Transcoder\":{\"Address\":", out);
    write_json_text(out, text_of("ethAcctAddr", NOBODY));
    fputs(",\"ServiceURI\":", out);
    write_url(out, said(ill.uri, text_of("serviceAddr", "")));
    fputs(",\"LastRewardRound\":1,\"RewardCut\":100000,\"FeeShare\":500000,\"Status\":\"Registered\"", out);
    fprintf(out, ",\"Active\":%s},\"PriceInfo\":\"1\"}", ill.inactive ? "false" : "true");
    return 200;
}

/* The orchestrators that a gateway knows, as a list. */
void write_pool(FILE *out) {
    const char *known = said(illness_now().pool, text_of("orchAddr", ""));
    const char *asks[] = {"orchWebhookUrl", "remoteSignerUrl"};
    int searches = on_chain() || given(asks[0]) || given(asks[1]), written = 0;
    char *words = strdup(role() != GATEWAY ? "" : *known == '\0' && searches ? FOUND : known), *rest = words, *word;
    fputc('[', out);
    while ((word = strsep(&rest, ", ")) != NULL) {
        if (*word == '\0' || strcmp(word, "none") == 0) continue;
        if (written++) fputc(',', out);
        write_url(out, word);
    }
    fputc(']', out);
    free(words);
}

/* What only the documentation of the node has, on the listener for work. */

int documented_info(const struct request *request, FILE *out) {
    (void)request;
    fputs("{\"capabilities\":[\"Text to image\",\"H.264\"]}", out);
    return 200;
}

int documented_stats(const struct request *request, FILE *out) {
    (void)request;
    fputs("{\"gpu_stats\":{\"0\":{\"utilization_compute\":3,\"memory_used\":1,\"memory_total\":24}}}", out);
    return 200;
}
