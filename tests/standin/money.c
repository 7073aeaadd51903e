/*
 * Exact prices for one pixel, in wei.
 *
 * In:  texts, as flags, files and requests have them. Out: `struct price`, written as Go's big.Rat writes it.
 * Numbers are read as big.Rat reads them ("1/2", "1e3", "0x10", ".5"), but without underscores, without fractions of
 * hexadecimal numbers, and only up to a thousand characters and an exponent of ten thousand. There is no price feed:
 * illness.c says how many dollars an ether is worth.
 */
#include "node.h"

#include <ctype.h>
#include <openssl/bn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WEI_PER_ETH 1000000000000000000UL
#define LARGEST_EXPONENT 10000
#define LONGEST_NUMBER 1000 /* a longer one would keep others waiting */

struct ratio {
    BIGNUM *over, *under;
};

static struct ratio new_ratio(BN_CTX *numbers) {
    struct ratio ratio = {BN_CTX_get(numbers), BN_CTX_get(numbers)};
    BN_zero(ratio.over);
    BN_one(ratio.under);
    return ratio;
}

static void append(BIGNUM *number, unsigned base, unsigned digit) {
    BN_mul_word(number, base);
    BN_add_word(number, digit);
}

/* An integer without a sign: 0x, 0o, 0b and a leading 0 choose the base. */
static int read_integer(BIGNUM *number, const char *text) {
    unsigned base = 10;
    if (text[0] == '0' && text[1] != '\0') {
        int letter = tolower(text[1]);
        base = letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
        text += strchr("xbo", letter) != NULL ? 2 : 1;
    }
    BN_zero(number);
    const char *start = text;
    for (; isxdigit((unsigned char)*text); text++) {
        unsigned digit = (unsigned)(isdigit((unsigned char)*text) ? *text - '0' : tolower(*text) - 'a' + 10);
        if (digit >= base) return 0;
        append(number, base, digit);
    }
    return text > start && *text == '\0';
}

/* What follows the digits of a decimal number: nothing, or an exponent. */
static int read_exponent(const char *text, long *exponent) {
    if (*text == '\0') return 1;
    const char *digits = text + 1 + (text[1] == '+' || text[1] == '-');
    size_t length = strspn(digits, "0123456789");
    if (tolower(*text) != 'e' || length == 0 || length > 5 || digits[length] != '\0') return 0;
    *exponent += atol(text + 1);
    return 1;
}

static int read_decimal(struct ratio ratio, const char *text, BN_CTX *numbers) {
    int digits = 0, point = 0;
    long exponent = 0;
    for (; isdigit((unsigned char)*text) || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = 1;
            continue;
        }
        append(ratio.over, 10, (unsigned)(*text - '0'));
        exponent -= point;
        digits++;
    }
    if (digits == 0 || !read_exponent(text, &exponent) || labs(exponent) > LARGEST_EXPONENT) return 0;
    BIGNUM *power = BN_CTX_get(numbers), *size = BN_CTX_get(numbers), *ten = BN_CTX_get(numbers);
    BN_set_word(ten, 10);
    BN_set_word(size, (BN_ULONG)labs(exponent));
    BN_exp(power, ten, size, numbers);
    BIGNUM *part = exponent < 0 ? ratio.under : ratio.over;
    return BN_mul(part, part, power, numbers);
}

static int read_ratio(struct ratio ratio, const char *text, BN_CTX *numbers) {
    int negative = text[0] == '-';
    if (strlen(text) > LONGEST_NUMBER) return 0;
    text += text[0] == '+' || text[0] == '-';
    const char *slash = strchr(text, '/');
    int prefixed = text[0] == '0' && text[1] != '\0' && strchr("xXoObB", text[1]) != NULL;
    int sound;
    if (slash != NULL) {
        char *over = strndup(text, (size_t)(slash - text));
        sound = read_integer(ratio.over, over) && read_integer(ratio.under, slash + 1) && !BN_is_zero(ratio.under);
        free(over);
    } else {
        sound = prefixed ? read_integer(ratio.over, text) : read_decimal(ratio, text, numbers);
    }
    BN_set_negative(ratio.over, negative);
    return sound;
}

static char *written(struct ratio ratio, BN_CTX *numbers) {
    BIGNUM *common = BN_CTX_get(numbers);
    BN_gcd(common, ratio.over, ratio.under, numbers);
    BN_div(ratio.over, NULL, ratio.over, common, numbers);
    BN_div(ratio.under, NULL, ratio.under, common, numbers);
    char *over = BN_bn2dec(ratio.over), *under = BN_bn2dec(ratio.under), *text = NULL;
    if (asprintf(&text, BN_is_one(ratio.under) ? "%s" : "%s/%s", over, under) < 0) abort();
    OPENSSL_free(over);
    OPENSSL_free(under);
    return text;
}

static int fault(struct price *price, const char *format, const char *value) {
    if (asprintf(&price->fault, format, value) < 0) abort();
    return 0;
}

/* Turns an amount of a currency into wei. The node's own feed is that of one network. */
static int convert(struct price *price, struct ratio amount, const char *currency, BN_CTX *numbers) {
    int ether = strcasecmp(currency, "eth") == 0;
    if (*currency == '\0' || strcasecmp(currency, "wei") == 0) return 1;
    if (!ether && !on_chain()) return fault(price, "error converting price: %s", "PriceFeedWatcher is not initialized");
    if (!ether && strcmp(text_of("network", ""), "arbitrum-one-mainnet") != 0 && !given("priceFeedAddr"))
        return fault(price, "error converting price: error getting price feed currencies: %s", "no feed");
    if (!ether && strcasecmp(currency, "usd") != 0)
        return fault(price, "error converting price: price feed does not have %s as a currency (ETH/USD)", currency);
    struct illness ill = illness_now();
    struct ratio worth = new_ratio(numbers);
    if (ether) BN_one(worth.over);
    else if (!read_ratio(worth, ill.usd, numbers) || BN_is_zero(worth.over))
        end(3, "stand-in: usd: no price: %s", ill.usd);
    BN_mul_word(worth.under, WEI_PER_ETH);
    BN_mul(amount.over, amount.over, worth.under, numbers);
    return BN_mul(amount.under, amount.under, worth.over, numbers);
}

static int read_price(struct price *price, const char *amount, const char *pixels, const char *currency,
                      BN_CTX *numbers) {
    struct ratio whole = new_ratio(numbers), units = new_ratio(numbers);
    if (!read_ratio(whole, amount, numbers)) return fault(price, "error parsing pricePerUnit value: %s", amount);
    if (!read_ratio(units, pixels, numbers)) return fault(price, "error parsing pixelsPerUnit value: %s", pixels);
    price->sign = BN_is_zero(whole.over) ? 0 : BN_is_negative(whole.over) ? -1 : 1;
    if (BN_is_zero(units.over) || BN_is_negative(units.over))
        return fault(price, "pixels per unit must be greater than 0, provided %s", pixels);
    BN_mul(whole.over, whole.over, units.under, numbers);
    BN_mul(whole.under, whole.under, units.over, numbers);
    if (!convert(price, whole, currency, numbers)) return 0;
    price->text = written(whole, numbers);
    return 1;
}

struct price price_of(const char *amount, const char *pixels, const char *currency) {
    struct price price = {0};
    BN_CTX *numbers = BN_CTX_new(); /* owns every number that is made on the way */
    BN_CTX_start(numbers);
    read_price(&price, amount, pixels, currency, numbers);
    BN_CTX_end(numbers);
    BN_CTX_free(numbers);
    return price;
}

/* Cut to a whole number once, as the node does it; nothing below one and nothing that it cannot count. */
char *whole_price(const char *amount, const char *parts) {
    struct price price = price_of(amount, parts, "usd");
    char *under = price.text == NULL ? NULL : strchr(price.text, '/'), *whole = NULL;
    BN_CTX *numbers = BN_CTX_new();
    BIGNUM *over = NULL, *by = NULL;
    if (under != NULL) *under++ = '\0';
    if (price.text != NULL && BN_dec2bn(&over, price.text) && BN_dec2bn(&by, under == NULL ? "1" : under) &&
        BN_div(over, NULL, over, by, numbers) && price.sign > 0 && !BN_is_zero(over) && BN_num_bits(over) < 64) {
        char *digits = BN_bn2dec(over);
        if ((whole = strdup(digits)) == NULL) abort();
        OPENSSL_free(digits);
    }
    BN_free(over);
    BN_free(by);
    BN_CTX_free(numbers);
    free(price.text);
    free(price.fault);
    return whole;
}

int has_whole_pixels(void) {
    struct price pixels = price_of(text_of("pixelsPerUnit", "1"), "1", "");
    int whole = pixels.text != NULL && pixels.sign > 0 && strchr(pixels.text, '/') == NULL;
    free(pixels.text);
    free(pixels.fault);
    return whole;
}

/* Digits with an optional fraction, then an optional currency; no sign and no exponent. */
struct price price_of_flag(const char *name) {
    const char *value = text_of(name, "0");
    size_t whole = strspn(value, "0123456789");
    size_t fraction = value[whole] == '.' ? 1 + strspn(value + whole + 1, "0123456789") : 0;
    const char *currency = value + whole + fraction;
    int letters = *currency == '\0' || (*currency >= 'A' && *currency <= 'z'); /* so are [ \ ] ^ _ ` for the node */
    for (const char *sign = currency; *sign != '\0'; sign++)
        letters = letters && (isdigit((unsigned char)*sign) || (*sign >= 'A' && *sign <= 'z'));
    struct price price = {0};
    if (whole == 0 || fraction == 1 || !letters) {
        fault(&price, "price must be in the format of <price><currency>, provided %s", value);
        return price;
    }
    char *amount = strndup(value, whole + fraction);
    price = price_of(amount, text_of("pixelsPerUnit", "1"), currency);
    free(amount);
    return price;
}

char *whole_number(const char *text) {
    const char *digits = text + (text[0] == '+' || text[0] == '-');
    if (*digits == '\0' || digits[strspn(digits, "0123456789")] != '\0') return NULL;
    while (digits[0] == '0' && digits[1] != '\0') digits++;
    char *number = NULL;
    if (asprintf(&number, "%s%s", text[0] == '-' && *digits != '0' ? "-" : "", digits) < 0) abort();
    return number;
}
