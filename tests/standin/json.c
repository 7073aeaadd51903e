/*
 * Just enough JSON to read what the node reads from files, and to write text into an answer.
 *
 * In: a text. Out: a tree of values, or NULL. Numbers may look odder than JSON allows, and an escape beyond the basic
 * plane becomes question marks. Trees are never freed: they are read once, when the process starts.
 */
#include "node.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEEPEST 64

struct cursor {
    const char *at;
    int depth;
};

static struct json *value(struct cursor *cursor);

char *whole_file(const char *path) {
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t room = 0;
    if (file == NULL) return NULL;
    ssize_t length = getdelim(&text, &room, '\0', file);
    int failed = ferror(file); /* a directory, for one */
    fclose(file);
    if (length >= 0) return text;
    free(text);
    return failed ? NULL : strdup("");
}

static char next_sign(struct cursor *cursor) {
    cursor->at += strspn(cursor->at, " \t\r\n");
    return *cursor->at;
}

static int skip(struct cursor *cursor, char sign) {
    if (next_sign(cursor) != sign) return 0;
    cursor->at++;
    return 1;
}

static void write_utf8(FILE *out, unsigned code) {
    if (code >= 0xD800 && code < 0xE000) code = '?';
    if (code < 0x80) {
        fputc((int)code, out);
        return;
    }
    if (code >= 0x800) fputc((int)(0xE0 | code >> 12), out);
    fputc((int)(code >= 0x800 ? 0x80 | (code >> 6 & 0x3F) : 0xC0 | code >> 6), out);
    fputc((int)(0x80 | (code & 0x3F)), out);
}

static int unescape(struct cursor *cursor, FILE *out) {
    static const char LETTERS[] = "\"\\/bfnrt", MEANT[] = "\"\\/\b\f\n\r\t";
    char letter = *cursor->at++;
    const char *found = letter == '\0' ? NULL : strchr(LETTERS, letter);
    if (found != NULL) return fputc(MEANT[found - LETTERS], out) != EOF;
    unsigned code;
    int length = 0;
    if (letter != 'u' || sscanf(cursor->at, "%4x%n", &code, &length) != 1 || length != 4) return 0;
    cursor->at += 4;
    write_utf8(out, code);
    return 1;
}

/* The text after an opening quotation mark, or NULL. */
static char *text(struct cursor *cursor) {
    char *read = NULL;
    size_t size;
    FILE *out = open_memstream(&read, &size);
    int sound = 1;
    while (sound && *cursor->at != '"' && (unsigned char)*cursor->at >= ' ') {
        char sign = *cursor->at++;
        sound = sign == '\\' ? unescape(cursor, out) : fputc(sign, out) != EOF;
    }
    fclose(out);
    if (sound && *cursor->at == '"') {
        cursor->at++;
        return read;
    }
    free(read);
    return NULL;
}

static int members(struct cursor *cursor, struct json *parent, char closing) {
    struct json **place = &parent->first;
    if (skip(cursor, closing)) return 1;
    do {
        char *key = NULL;
        if (closing == '}' && (!skip(cursor, '"') || (key = text(cursor)) == NULL || !skip(cursor, ':'))) return 0;
        if ((*place = value(cursor)) == NULL) return 0;
        (*place)->key = key;
        place = &(*place)->next;
    } while (skip(cursor, ','));
    return skip(cursor, closing);
}

static int literal(struct cursor *cursor, struct json *read) {
    static const char *const NAMES[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(NAMES[i]);
        if (strncmp(cursor->at, NAMES[i], length) != 0) continue;
        read->kind = NAMES[i][0];
        cursor->at += length;
        return 1;
    }
    size_t length = strspn(cursor->at, "+-.0123456789eE");
    read->text = strndup(cursor->at, length);
    cursor->at += length;
    return length > 0;
}

static struct json *value(struct cursor *cursor) {
    struct json *read = calloc(1, sizeof *read);
    int sound;
    char sign = next_sign(cursor);
    if (++cursor->depth > DEEPEST) return NULL;
    if (sign == '{' || sign == '[' || sign == '"') {
        read->kind = sign;
        cursor->at++;
        sound = sign == '"' ? (read->text = text(cursor)) != NULL : members(cursor, read, sign == '{' ? '}' : ']');
    } else {
        sound = literal(cursor, read);
    }
    cursor->depth--;
    return sound ? read : NULL;
}

struct json *read_json(const char *whole) {
    struct cursor cursor = {.at = whole};
    struct json *read = value(&cursor);
    return read != NULL && next_sign(&cursor) == '\0' ? read : NULL;
}

/* The last one with the key counts, whatever its case. */
const struct json *member(const struct json *object, const char *key) {
    const struct json *found = NULL;
    if (object->kind != '{') return NULL;
    for (const struct json *one = object->first; one != NULL; one = one->next)
        if (strcasecmp(one->key, key) == 0) found = one;
    return found;
}

/* How many bytes a character has that begins here; 0 where it is none. */
static size_t character(const unsigned char *text) {
    unsigned char lead = text[0];
    size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xC0) != 0x80) return 0;
    return length;
}

void write_json_text(FILE *out, const char *words) {
    fputc('"', out);
    for (const unsigned char *sign = (const unsigned char *)words; *sign != '\0';) {
        size_t length = character(sign);
        if (length == 0) fputs("\\ufffd", out);
        else if (*sign == '"' || *sign == '\\') fprintf(out, "\\%c", *sign);
        else if (*sign < ' ' || strchr("<>&", *sign) != NULL) fprintf(out, "\\u%04x", *sign);
        else fwrite(sign, 1, length, out);
        sign += length == 0 ? 1 : length;
    }
    fputc('"', out);
}
