/* A client of ldpkit in C: reports from the integers of a collection file and random bytes.
 *
 * Here are the forms of categories, of most numbers and angles, and of questions that are asked again;
 * forms.c has the others. All need nothing but libc and a compiler with 128-bit integers. Every
 * condition that is required must hold, or reports give more away than the ratio of their integers says.
 * lines.c feeds them with golden vectors; on a device take() would read getrandom(), and for permanent
 * reports a stream of AES.
 *
 *     cc -O2 -o client client.c forms.c lines.c && ldpkit spec check ./client
 */
#include <stdio.h>
#include <string.h>

#include "client.h"

const char *field(const char *prefix, const char *name) {
    static char joined[64];
    snprintf(joined, sizeof joined, "%s%s", prefix, name);
    return joined;
}

int index_bytes(u64 outputs) {
    return outputs <= 1 << 8 ? 1 : outputs <= 1 << 16 ? 2 : outputs <= (u64)1 << 32 ? 4 : 8;
}

int has(const uint8_t *set, u64 place) { return set[place >> 3] >> (place & 7) & 1; }
void add(uint8_t *set, u64 place) { set[place >> 3] |= (uint8_t)(1 << (place & 7)); }

/* Randomised response: keep + (size - 1) width must be 2^64, or the ratio keep / width is not true. */
Round round_of(const char *prefix, u64 size) {
    Round made = {word(field(prefix, "keep")), word(field(prefix, "width"))};
    require(made.width >= 1 && made.keep >= made.width && made.keep + (u128)(size - 1) * made.width == WORD);
    return made;
}

u64 respond(Round with, u64 value) {
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

/* Randomised response to a value or its bucket; chained: to the state, and to the permanent answer again. */
static void responses(int hashing, int chained, const char *stage) {
    int again = !strcmp(stage, "instant"), coins = !strcmp(stage, "coins");
    u64 size = number("size", 2, LARGEST_DOMAIN), buckets = hashing ? number("buckets", 2, (u64)1 << 32) : size;
    int bits = hashing ? (int)number("word", 32, 64) : 0, front = bits / 4;
    Round first = round_of(chained ? "first." : "", buckets), second = {0, 0};
    const uint8_t *kept = NULL;
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
}

static void response(const char *stage) { responses(0, 0, stage); }
static void hashing(const char *stage) { responses(1, 0, stage); }
static void chained_response(const char *stage) { responses(0, 1, stage); }
static void chained_hashing(const char *stage) { responses(1, 1, stage); }

/* Bits, each one with threshold / 2^64: a byte decides, and a word of 64 bits where it ties. */
void random_bits(const u64 *thresholds, const uint8_t *chosen, u64 size, uint8_t *to) {
    const uint8_t *bytes = take(size);
    for (u64 i = 0; i < size; i++) {
        u64 threshold = thresholds[!has(chosen, i)];
        int bit = bytes[i] < threshold >> 56;
        if (bytes[i] == threshold >> 56) bit = little(take(8), 8) >> 8 < (threshold & (((u64)1 << 56) - 1));
        if (bit) add(to, i);
    }
}

void thresholds_of(const char *more, const char *less, u64 *to) {
    to[0] = word(more); to[1] = word(less);
    require(to[1] >= 1 && to[0] >= to[1]);
}

static void bits_of_values(int chained, int again) {
    u64 size = number("size", 2, LARGEST_DOMAIN), length = (size + 7) / 8, first[2], second[2] = {0, 0}, value = 0;
    uint8_t *kept = scratch(length);
    thresholds_of(chained ? "first.own" : "own", chained ? "first.other" : "other", first);
    if (chained) thresholds_of("second.one", "second.zero", second);
    if (chained) kept = kept_bytes(again ? "permanent" : "coins", length);
    if (!again) value = number("input", 0, size - 1);
    if (!is_allowed()) return;
    if (!again) add(memset(kept, 0, length), value);
    random_bits(again ? second : first, kept, size, grow(length));
}

static void unary(const char *stage) { (void)stage; bits_of_values(0, 0); }
static void chained_unary(const char *stage) { bits_of_values(1, !strcmp(stage, "instant")); }

/* A set of `omega` values, with its own one if that is held: Floyd's algorithm, Lemire's draws. */
uint8_t *choose(u64 size, u64 omega, u64 own, int held) {
    uint8_t *set = scratch(size / 8 + 1), *draws = take(4 * omega);
    for (u64 step = 0; step < omega; step++) {
        u64 last = size - 1 - omega + step, product = little(draws + 4 * step, 4) * (last + 1), place;
        u64 uneven = ((u64)1 << 32) % (last + 1);
        while ((product & 0xFFFFFFFF) < uneven) product = little(take(4), 4) * (last + 1);
        if (step == 0 && held) continue;
        place = product >> 32;
        place += place >= own;
        add(set, has(set, place) ? last + (last >= own) : place);
    }
    if (held) add(set, own);
    return set;
}

void put_list(const uint8_t *set, u64 size) {
    for (u64 i = 0; i < size; i++) if (has(set, i)) put(i, index_bytes(size));
}

static void subset(const char *stage) {
    u64 size = number("size", 2, LARGEST_DOMAIN), omega = number("omega", 1, size - 1), threshold = word("threshold");
    u64 own = number("input", 0, size - 1), length = (size + 7) / 8;
    (void)stage;
    require(threshold >= 1 && (u128)threshold * (size - omega) >= (WORD - threshold) * omega);
    if (!is_allowed()) return;
    uint8_t *set = choose(size, omega, own, little(take(8), 8) < threshold);
    if (omega * index_bytes(size) < length) put_list(set, size);
    else memcpy(grow(length), set, length);
}

/* A cell of a window of `width` likely cells from `start` on, or any other cell. */
static u64 cell(u64 drawn, u64 start, u64 width, u64 inside, u64 outside) {
    u64 edge = width * inside;
    if (drawn < edge) return start + drawn / inside;
    drawn = (drawn - edge) / outside;
    return drawn + (drawn >= start ? width : 0);
}

u64 grid_of(const char *prefix, u64 most) {
    u64 grid = number(field(prefix, "grid"), 2, most);
    require(!(grid & (grid - 1)));
    return grid;
}

Window window_of(const char *prefix) {
    char *stand = text(field(prefix, "stand"));
    Window made = {0};
    made.slide = stand && !strcmp(stand, "slide"); made.wrap = stand && !strcmp(stand, "wrap");
    made.sector = stand && !strcmp(stand, "sector");
    require(stand && (made.slide || made.wrap || made.sector || !strcmp(stand, "clamp")));
    made.grid = made.sector ? number(field(prefix, "grid"), 2, LARGEST_GRID) : grid_of(prefix, LARGEST_GRID);
    made.width = number(field(prefix, "width"), 1, (u64)1 << 32);
    made.margin = made.slide ? number(field(prefix, "margin"), 0, LARGEST_GRID) : 0;
    made.inside = word(field(prefix, "inside")); made.outside = word(field(prefix, "outside"));
    made.cells = made.slide ? made.grid + made.width + 2 * made.margin : made.grid * (made.sector ? made.width : 2);
    made.places = made.grid + !(made.wrap || made.sector);
    made.has_kept = made.slide && text(field(prefix, "kept"));
    require(made.width < made.cells && made.cells <= (u64)1 << 32 && (made.slide || made.sector || made.width % 2 == 0));
    require(made.outside >= 1 && made.inside >= made.outside);
    require((u128)made.width * made.inside + (u128)(made.cells - made.width) * made.outside == WORD);
    if (made.has_kept) require(pair(field(prefix, "kept"), made.kept) == 2 && made.kept[1] >= 1
                               && (u128)made.kept[0] + made.kept[1] <= made.cells);
    return made;
}

u64 window_cell(const Window *w, u64 place) {
    u64 start = w->slide ? place + w->margin : w->sector ? place * w->width : 2 * place, drawn = little(take(8), 8);
    if (w->wrap) /* cells are counted from the start of the window */
        return (cell(drawn, 0, w->width, w->inside, w->outside) + start + w->cells - w->width / 2) % w->cells;
    if (!w->slide && !w->sector) {
        start = start < w->width / 2 ? 0 : start - w->width / 2;
        if (start > w->cells - w->width) start = w->cells - w->width;
    }
    drawn = cell(drawn, start, w->width, w->inside, w->outside);
    if (!w->has_kept) return drawn;
    if (drawn < w->kept[0]) return w->kept[1];
    return drawn - w->kept[0] < w->kept[1] ? drawn - w->kept[0] : w->kept[1] + 1;
}

static void window(const char *stage) {
    Window made = window_of("");
    u64 place = number("input", 0, made.places - 1);
    (void)stage;
    if (is_allowed()) put(window_cell(&made, place), index_bytes(made.has_kept ? made.kept[1] + 2 : made.cells));
}

/* A coin whose chance rises with the place; hybrid: or a cell of a window. */
static void coins(int hybrid) {
    u64 grid = grid_of("", LARGEST_GRID), base = word("base"), slope = word("slope"), place = number("input", 0, grid);
    u64 width = hybrid ? number("width", 1, LARGEST_GRID) : 0, cells = hybrid ? grid + width : 0, drawn;
    u64 inside = hybrid ? word("inside") : 0, outside = hybrid ? word("outside") : 0;
    u128 edge = 2 * (u128)base + (u128)grid * slope;
    require(base >= 1 && inside >= outside && outside >= (u64)hybrid);
    require(edge + (u128)width * inside + (u128)grid * outside == WORD);
    if (!is_allowed()) return;
    drawn = little(take(8), 8);
    if (drawn < edge) drawn = cells + (drawn < base + slope * place);
    else drawn = cell(drawn - (u64)edge, place, width, inside, outside);
    put(drawn, index_bytes(cells + 2));
}

static void coin(const char *stage) { (void)stage; coins(0); }
static void hybrid(const char *stage) { (void)stage; coins(1); }

static const Form core_forms[] = {
    {"response", response}, {"hashing", hashing}, {"unary", unary}, {"subset", subset}, {"window", window},
    {"coin", coin}, {"hybrid", hybrid}, {"chained_response", chained_response},
    {"chained_hashing", chained_hashing}, {"chained_unary", chained_unary}, {NULL, NULL},
};

int draw(const char *form, const char *stage) {
    const Form *tables[] = {core_forms, other_forms};
    for (int i = 0; i < 2; i++)
        for (const Form *each = tables[i]; each->name; each++)
            if (!strcmp(form, each->name)) return each->draw(stage), 1;
    return 0;
}
