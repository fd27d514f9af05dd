/* A client of ldpkit in C: reports from the integers of a collection file and random bytes.
 *
 * It has the forms of categories, numbers, angles, sites and of questions that are asked again, and
 * needs nothing but libc and a compiler with 128-bit integers. Every condition that is required here
 * must hold, or reports give more away than the ratio of their integers says. lines.c feeds it with
 * golden vectors; on a device take() would read getrandom(), and for permanent reports a stream of AES.
 *
 *     cc -O2 -o client client.c lines.c && ldpkit spec check ./client
 */
#include <stdlib.h>
#include <string.h>
#include <stdio.h>

#include "client.h"

#define LARGEST_DOMAIN ((u64)1 << 26)
#define LARGEST_GRID ((u64)1 << 30)

static int index_bytes(u64 outputs) {
    return outputs <= 1 << 8 ? 1 : outputs <= 1 << 16 ? 2 : outputs <= (u64)1 << 32 ? 4 : 8;
}

static uint8_t *zeros(size_t size) {
    uint8_t *made = calloc(size + 1, 1);
    if (!made) abort();
    return made;
}

/* Randomised response: keep + (size - 1) width must be 2^64, or the ratio keep / width is not true. */
typedef struct { u64 keep, width; } Round;

static Round round_of(const char *prefix, u64 size) {
    char name[32]; Round made;
    snprintf(name, sizeof name, "%skeep", prefix);
    made.keep = word(name);
    snprintf(name, sizeof name, "%swidth", prefix);
    made.width = word(name);
    require(made.width >= 1 && made.keep >= made.width && made.keep + (u128)(size - 1) * made.width == WORD);
    return made;
}

static u64 respond(Round with, u64 value) {
    u64 drawn = little(take(8), 8), piece;
    if (drawn < with.keep) return value;
    piece = (drawn - with.keep) / with.width;
    return piece + (piece >= value);
}

/* Hashing: multiply-shift in words of 32 or 64 bits. */
static u64 bucket(const uint8_t *function, int bits, u64 buckets, u64 value) {
    static const u64 all_factors[2][3] = {{0x85EBCA6B, 0xC2B2AE35, 1}, {0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 1}};
    static const int all_shifts[2][3] = {{16, 13, 16}, {30, 27, 31}};
    const u64 *factors = all_factors[bits == 64], mask = bits == 64 ? ~(u64)0 : 0xFFFFFFFF;
    const int *shifts = all_shifts[bits == 64];
    u64 mixed = value + 1, low = ((u64)2 << bits / 2) - 1;
    for (int i = 0; i < 3; i++) mixed = (mixed ^ mixed >> shifts[i]) * factors[i] & mask;
    mixed = (mixed & ~low) | value;
    mixed = (little(function, bits / 8) * mixed + little(function + bits / 8, bits / 8)) & mask;
    return (mixed >> bits / 2) * buckets >> bits / 2;
}

/* Bits, each one with threshold / 2^64: a byte decides, and a word of 64 bits where it ties. */
static void random_bits(const u64 *thresholds, const uint8_t *chosen, u64 size, uint8_t *to) {
    const uint8_t *bytes = take(size);
    for (u64 i = 0; i < size; i++) {
        u64 threshold = thresholds[!(chosen[i >> 3] >> (i & 7) & 1)];
        int bit = bytes[i] < threshold >> 56;
        if (bytes[i] == threshold >> 56) bit = little(take(8), 8) >> 8 < (threshold & (((u64)1 << 56) - 1));
        to[i >> 3] |= (uint8_t)(bit << (i & 7));
    }
}

static void unary(const u64 *thresholds, u64 size, u64 own) {
    uint8_t *chosen = zeros(size / 8 + 1);
    chosen[own >> 3] |= (uint8_t)(1 << (own & 7));
    random_bits(thresholds, chosen, size, grow((size + 7) / 8));
    free(chosen);
}

static void thresholds_of(const char *more, const char *less, u64 *to) {
    to[0] = word(more); to[1] = word(less);
    require(to[1] >= 1 && to[0] >= to[1]);
}

/* A set of `omega` values, with its own one if that is held: Floyd's algorithm, Lemire's draws. */
static void subset(u64 size, u64 omega, u64 own, int held) {
    uint8_t *set = zeros(size / 8 + 1), *draws = take(4 * omega);
    for (u64 step = 0; step < omega; step++) {
        u64 last = size - 1 - omega + step, product = little(draws + 4 * step, 4) * (last + 1), place;
        u64 uneven = ((u64)1 << 32) % (last + 1);
        while ((product & 0xFFFFFFFF) < uneven) product = little(take(4), 4) * (last + 1);
        if (step == 0 && held) continue;
        place = product >> 32;
        place += place >= own;
        if (set[place >> 3] >> (place & 7) & 1) place = last + (last >= own);
        set[place >> 3] |= (uint8_t)(1 << (place & 7));
    }
    if (held) set[own >> 3] |= (uint8_t)(1 << (own & 7));
    if (omega * index_bytes(size) >= (size + 7) / 8) memcpy(grow((size + 7) / 8), set, (size + 7) / 8);
    else for (u64 i = 0; i < size; i++) if (set[i >> 3] >> (i & 7) & 1) put(i, index_bytes(size));
    free(set);
}

/* A cell of a window of `width` likely cells from `start` on, or any other cell. */
static u64 cell(u64 drawn, u64 start, u64 width, u64 inside, u64 outside) {
    u64 edge = width * inside;
    if (drawn < edge) return start + drawn / inside;
    drawn = (drawn - edge) / outside;
    return drawn + (drawn >= start ? width : 0);
}

static u64 grid_of(int any) {
    u64 grid = number("grid", 2, LARGEST_GRID);
    require(any || !(grid & (grid - 1)));
    return grid;
}

static void window(void) {
    char *stand = text("stand");
    int slide = stand && !strcmp(stand, "slide"), wrap = stand && !strcmp(stand, "wrap");
    int sector = stand && !strcmp(stand, "sector"), clamp = stand && !strcmp(stand, "clamp");
    u64 grid = grid_of(sector), width = number("width", 1, (u64)1 << 32);
    u64 margin = slide ? number("margin", 0, LARGEST_GRID) : 0;
    u64 inside = word("inside"), outside = word("outside"), kept[2] = {0, 0}, outputs, place, found, start;
    u128 cells = slide ? (u128)grid + width + 2 * margin : (u128)grid * (sector ? width : 2);
    int has_kept = slide && text("kept");
    require(slide || wrap || clamp || sector);
    require(width < cells && cells <= (u64)1 << 32 && (slide || sector || width % 2 == 0));
    require(outside >= 1 && inside >= outside);
    require((u128)width * inside + (cells - width) * (u128)outside == WORD);
    if (has_kept) require(pair("kept", kept) == 2 && kept[1] >= 1 && (u128)kept[0] + kept[1] <= cells);
    place = number("input", 0, grid - (wrap || sector));
    if (!is_allowed()) return;
    outputs = has_kept ? kept[1] + 2 : (u64)cells;
    start = slide ? place + margin : sector ? place * width : 2 * place;
    if (clamp) start = start < width / 2 ? 0 : start - width / 2;
    if (clamp && start > cells - width) start = (u64)cells - width;
    found = cell(little(take(8), 8), wrap ? 0 : start, width, inside, outside);
    if (wrap) found = (found + start + (u64)cells - width / 2) % (u64)cells;
    if (has_kept && found < kept[0]) found = kept[1];
    else if (has_kept) found = found - kept[0] < kept[1] ? found - kept[0] : kept[1] + 1;
    put(found, index_bytes(outputs));
}

static void coin(int hybrid) {
    u64 grid = grid_of(0), base = word("base"), slope = word("slope"), width = 0, inside = 0, outside = 0;
    u64 place = number("input", 0, grid), drawn, cells;
    u128 coins = 2 * (u128)base + (u128)grid * slope;
    if (hybrid) {
        width = number("width", 1, LARGEST_GRID); inside = word("inside"); outside = word("outside");
        require(outside >= 1 && inside >= outside);
    }
    require(base >= 1 && coins + (u128)width * inside + (u128)grid * outside == WORD);
    if (!is_allowed()) return;
    drawn = little(take(8), 8);
    cells = hybrid ? grid + width : 0;
    if (drawn < coins) drawn = cells + (drawn < base + slope * place);
    else drawn = cell(drawn - (u64)coins, place, width, inside, outside);
    put(drawn, index_bytes(cells + 2));
}

static void subsets(void) {
    u64 size = number("size", 2, LARGEST_DOMAIN), omega = number("omega", 1, size - 1), threshold = word("threshold");
    u64 own = number("input", 0, size - 1);
    require(threshold >= 1 && (u128)threshold * (size - omega) >= (WORD - threshold) * omega);
    if (is_allowed()) subset(size, omega, own, little(take(8), 8) < threshold);
}

static void bits_of_values(int chained, int again) {
    u64 size = number("size", 2, LARGEST_DOMAIN), length = (size + 7) / 8, first[2], second[2] = {0, 0}, value = 0;
    uint8_t *kept = NULL;
    thresholds_of(chained ? "first.own" : "own", chained ? "first.other" : "other", first);
    if (chained) thresholds_of("second.one", "second.zero", second);
    if (chained) kept = kept_bytes(again ? "permanent" : "coins", length);
    if (!again) value = number("input", 0, size - 1);
    if (!is_allowed()) return;
    if (again) random_bits(second, kept, size, grow(length));
    else unary(first, size, value);
    free(kept);
}

/* Randomised response to a value or its bucket; chained: to the state, and to the permanent answer again. */
static void responses(int hashing, int chained, const char *stage) {
    int again = !strcmp(stage, "instant"), coins = !strcmp(stage, "coins");
    u64 size = number("size", 2, LARGEST_DOMAIN), buckets = hashing ? number("buckets", 2, (u64)1 << 32) : size;
    int bits = hashing ? (int)number("word", 32, 64) : 0, front = bits / 4;
    Round first = round_of(chained ? "first." : "", buckets), second = {0, 0};
    uint8_t *kept = NULL;
    u64 value = 0;
    require(!hashing || bits == (size <= 1 << 17 && buckets <= 256 ? 32 : 64));
    if (chained) second = round_of("second.", buckets);
    if (chained && !coins) kept = kept_bytes(again ? "permanent" : "coins", front + index_bytes(buckets));
    if (!again && !coins) value = number("input", 0, (chained ? buckets : size) - 1);
    if (again && !refused) value = little(kept + front, index_bytes(buckets));
    require(value < (hashing && !chained ? size : buckets));
    if (!is_allowed()) return;
    if (hashing) {
        const uint8_t *function = chained && !coins ? kept : take(front);
        memcpy(grow(front), function, front);
        if (!chained) value = bucket(function, bits, buckets, value);
    }
    if (!coins) value = respond(again ? second : first, value);
    put(value, index_bytes(buckets));
    free(kept);
}

static void sites(void) {
    u64 shape[2] = {0, 1}, at[2] = {0, 0}, size, larger, value;
    int count = pair("shape", shape);
    require(pair("input", at) == count && at[0] < shape[0] && at[1] < shape[1]);
    require(shape[0] <= LARGEST_DOMAIN && shape[1] <= LARGEST_DOMAIN && !refused);
    size = refused ? 2 : shape[0] * shape[1];
    require(size >= 2 && size <= LARGEST_DOMAIN);
    Round response = round_of("", size);
    if (!is_allowed()) return;
    value = respond(response, at[0] * shape[1] + at[1]);
    larger = shape[0] > shape[1] ? shape[0] : shape[1];
    put(value / shape[1], index_bytes(larger));
    if (count == 2) put(value % shape[1], index_bytes(larger));
}

/* Forms of one report, and the stages of those with a memory; returns 0 for a form that is not here. */
int draw(const char *form, const char *stage) {
    if (!strcmp(form, "response")) responses(0, 0, stage);
    else if (!strcmp(form, "hashing")) responses(1, 0, stage);
    else if (!strcmp(form, "unary")) bits_of_values(0, 0);
    else if (!strcmp(form, "subset")) subsets();
    else if (!strcmp(form, "sites")) sites();
    else if (!strcmp(form, "window")) window();
    else if (!strcmp(form, "coin")) coin(0);
    else if (!strcmp(form, "hybrid")) coin(1);
    else if (!strcmp(form, "chained_response")) responses(0, 1, stage);
    else if (!strcmp(form, "chained_hashing")) responses(1, 1, stage);
    else if (!strcmp(form, "chained_unary")) bits_of_values(1, !strcmp(stage, "instant"));
    else return 0;
    return 1;
}
