/* Golden vectors for client.c and forms.c: reads the lines of `ldpkit spec vectors --lines`, prints ids and reports. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

/* The fields of one line; each must be asked for, and none may be left. */
static struct { char *name, *value; int used; } fields[64];
static int count;
int refused;
static uint8_t *noise, *report; /* random bytes that are left, and what is reported */
static size_t left, length, room, integers;
static void *lent[256]; /* what scratch() has given out for this line */
static int lent_count;

void require(int holds) { if (!holds) refused = 1; }

char *text(const char *name) {
    for (int i = 0; i < count; i++)
        if (!strcmp(fields[i].name, name)) { fields[i].used = 1; return fields[i].value; }
    return NULL;
}

/* Decimal digits below 2^64 without sign, space or leading zero; anything else is refused. */
static u64 digits(const char *from, size_t size) {
    u128 whole = 0;
    if (size == 0 || size > 20 || (size > 1 && *from == '0')) { refused = 1; return 0; }
    for (size_t i = 0; i < size; i++) {
        if (from[i] < '0' || from[i] > '9') { refused = 1; return 0; }
        whole = 10 * whole + (u64)(from[i] - '0');
    }
    require(whole < WORD);
    return (u64)whole;
}

u64 word(const char *name) {
    char *found = text(name);
    if (!found) { refused = 1; return 0; }
    return digits(found, strlen(found));
}

u64 number(const char *name, u64 least, u64 most) {
    u64 found = word(name);
    require(found >= least && found <= most);
    return refused ? least : found;
}

/* Numbers with commas; returns how many there are, at most two. */
int pair(const char *name, u64 *to) {
    char *from = text(name), *comma;
    if (!from) { refused = 1; return 0; }
    comma = strchr(from, ',');
    to[0] = digits(from, comma ? (size_t)(comma - from) : strlen(from));
    if (comma) to[1] = digits(comma + 1, strlen(comma + 1));
    return comma ? 2 : 1;
}

uint8_t *scratch(size_t size) {
    uint8_t *made = calloc(size + 1, 1);
    if (!made || lent_count == 256) abort();
    return lent[lent_count++] = made;
}

/* Numbers with commas and semicolons; `columns`, if given, is how many there are before each semicolon. */
static Words array(const char *name, size_t *columns) {
    char *from = text(name);
    Words made = {NULL, 0};
    size_t most = 1, column = 0;
    if (!from) { refused = 1; return made; }
    for (char *each = from; *each; each++) most += *each == ',' || *each == ';';
    require((integers += most) <= 4096);
    if (refused) return made;
    made.of = (u64 *)scratch(most * sizeof(u64));
    for (;; from++) {
        size_t size = strcspn(from, ",;");
        made.of[made.count++] = digits(from, size);
        column++;
        from += size;
        if (*from == ',') continue;
        if (!columns) { require(!*from); return made; }
        if (made.count == column) *columns = column;
        require(column == *columns);
        column = 0;
        if (!*from) return made;
    }
}

Words words(const char *name) { return array(name, NULL); }

Words rows(const char *name, size_t *columns) {
    Words made;
    *columns = 1;
    made = array(name, columns);
    require(*columns >= 2 && made.count >= 2 * *columns);
    for (size_t start = 0; !refused && start < made.count; start += *columns) {
        u128 sum = 0;
        for (size_t i = start; i < start + *columns; i++) { require(made.of[i] >= 1); sum += made.of[i]; }
        require(sum == WORD);
    }
    return made;
}

int is_allowed(void) { /* whether the form is right and has no field that is not known */
    for (int i = 0; i < count; i++) require(fields[i].used);
    return !refused;
}

uint8_t *take(size_t size) {
    if (size > left) { fprintf(stderr, "more random bytes are needed than there are\n"); exit(1); }
    noise += size; left -= size;
    return noise - size;
}

u64 little(const uint8_t *from, int size) {
    u64 whole = 0;
    while (size--) whole = whole << 8 | from[size];
    return whole;
}

uint8_t *grow(size_t size) { /* zeros at the end of the report */
    if (length + size > room && !(report = realloc(report, room = 2 * (length + size)))) exit(1);
    length += size;
    return memset(report + length - size, 0, size);
}

void put(u64 value, int size) {
    for (uint8_t *to = grow(size); size--; value >>= 8) *to++ = (uint8_t)value;
}

/* What a device has kept, in hex: its coins or its permanent report. */
uint8_t *kept_bytes(const char *name, size_t size) {
    char *hex = text(name);
    uint8_t *made = scratch(size);
    require(hex && strlen(hex) == 2 * size);
    for (size_t i = 0; !refused && i < size; i++) require(sscanf(hex + 2 * i, "%2hhx", made + i) == 1);
    return made;
}

int main(void) {
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        char *id = strtok(line, " \n"), *form = strtok(NULL, " \n"), *stage, *hex;
        count = refused = lent_count = 0; length = integers = 0;
        for (char *each; (each = strtok(NULL, " \n"));) {
            char *equals = strchr(each, '=');
            if (!equals || count == 64) { refused = 1; continue; }
            *equals = 0;
            fields[count].name = each; fields[count].value = equals + 1; fields[count++].used = 0;
        }
        if (!id || !form) continue;
        hex = text("bytes"); stage = text("stage");
        left = hex ? strlen(hex) / 2 : 0;
        uint8_t *bytes = noise = malloc(left + 1);
        for (size_t i = 0; i < left; i++) require(sscanf(hex + 2 * i, "%2hhx", bytes + i) == 1);
        /* A client that lacks a form prints '-' for it; here every form is known, and another is refused. */
        if (!draw(form, stage ? stage : "draw") || refused) printf("%s refused\n", id);
        else {
            printf("%s ", id);
            for (size_t i = 0; i < length; i++) printf("%02x", report[i]);
            printf("\n");
        }
        free(bytes);
        while (lent_count) free(lent[--lent_count]);
    }
    free(line); free(report);
    return 0;
}
