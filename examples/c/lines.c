/* Golden vectors for client.c: reads the lines of `ldpkit spec vectors --lines`, prints ids and reports. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

/* The fields of one line; each must be asked for, and none may be left. */
static struct { char *name, *value; int used; } fields[64];
static int count;
int refused;
static uint8_t *noise, *report; /* random bytes that are left, and what is reported */
static size_t left, length, room;

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
    uint8_t *made = calloc(size + 1, 1);
    require(hex && strlen(hex) == 2 * size);
    for (size_t i = 0; !refused && i < size; i++) require(sscanf(hex + 2 * i, "%2hhx", made + i) == 1);
    return made;
}

int main(void) {
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        char *id = strtok(line, " \n"), *form = strtok(NULL, " \n"), *stage, *hex;
        count = refused = 0; length = 0;
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
        if (!draw(form, stage ? stage : "draw")) printf("%s -\n", id);
        else if (refused) printf("%s refused\n", id);
        else {
            printf("%s ", id);
            for (size_t i = 0; i < length; i++) printf("%02x", report[i]);
            printf("\n");
        }
        free(bytes);
    }
    free(line); free(report);
    return 0;
}
