/* The forms that few questions need: noise, tables, locations, and the buckets of dBitFlipPM. */
#include <stdlib.h>
#include <string.h>

#include "client.h"

static u128 sum(const u64 *of, size_t count) {
    u128 total = 0;
    for (size_t i = 0; i < count; i++) total += of[i];
    return total;
}

static int falls(const u64 *of, size_t count) { /* no zero, and nothing larger than what is before it */
    for (size_t i = 0; i < count; i++) if (!of[i] || (i && of[i] > of[i - 1])) return 0;
    return count > 0;
}

/* The range of scale * of[i] that a word falls in, and how far into it; all ranges together are 2^64. */
static size_t locate(u128 drawn, const u64 *of, u64 scale, u64 *rest) {
    size_t i = 0;
    for (; drawn >= (u128)scale * of[i]; i++) drawn -= (u128)scale * of[i];
    if (rest) *rest = (u64)drawn;
    return i;
}

/* Noise on both sides of a place: a block of the grid and a side by one word, a cell of the block by the next. */
static void noise(const char *stage) {
    u64 grid = grid_of("", LARGEST_GRID), place = number("input", 0, grid), side, drawn, distance, zero;
    Words blocks = words("blocks"), lengths = words("lengths"), weights = words("weights");
    u64 reach = number("reach", 0, 4096), cells = grid * (1 + 2 * reach);
    u128 covered = 0, weight = 0;
    size_t i = 0;
    (void)stage;
    require(blocks.count >= 2 && reach + 2 <= blocks.count && cells + 2 < (u64)1 << 53);
    require(sum(blocks.of, blocks.count) == WORD && falls(weights.of, weights.count));
    require(lengths.count == 1 || lengths.count == weights.count);
    if (refused) return;
    require(falls(blocks.of, reach + 1));
    for (i = 0; i < blocks.count; i++) require(blocks.of[i] >= 2 && blocks.of[i] % 2 == 0);
    for (i = 0; i < weights.count; i++) {
        u64 length = lengths.of[lengths.count > 1 ? i : 0];
        require(length >= 1 && length <= grid);
        covered += length; weight += (u128)length * weights.of[i];
    }
    require(covered == grid && weight == WORD);
    if (!is_allowed()) return;
    side = little(take(8), 8); drawn = little(take(8), 8);
    distance = locate(side, blocks.of, 1, NULL) * grid;
    for (i = 0; ; i++) { /* runs of cells of one weight */
        u64 length = lengths.of[lengths.count > 1 ? i : 0];
        if (drawn < (u128)length * weights.of[i]) break;
        drawn -= length * weights.of[i]; distance += length;
    }
    distance += drawn / weights.of[i];
    zero = place + reach * grid;
    if (side & 1) drawn = zero + distance < cells ? zero + distance : cells + 1;
    else drawn = distance < zero ? zero - 1 - distance : cells;
    put(drawn, index_bytes(cells + 2));
}

/* A law of distances around a circle; the last bit is the side. */
typedef struct { u64 grid; Words weights; } Turned;

static Turned turned_of(const char *prefix) {
    Turned made = {grid_of(prefix, LARGEST_GRID), words(field(prefix, "weights"))};
    require(made.weights.count == made.grid && sum(made.weights.of, made.weights.count) == WORD / 2);
    for (size_t i = 0; i < made.weights.count; i++) require(made.weights.of[i] >= 1);
    return made;
}

static u64 turned_cell(const Turned *law, u64 place) {
    u64 drawn = little(take(8), 8), distance = locate(drawn, law->weights.of, 2, NULL);
    return (2 * place + (drawn & 1 ? distance : 2 * law->grid - 1 - distance)) % (2 * law->grid);
}

static void turned(const char *stage) {
    Turned law = turned_of("");
    u64 place = number("input", 0, law.grid - 1);
    (void)stage;
    if (is_allowed()) put(turned_cell(&law, place), index_bytes(2 * law.grid));
}

/* Places that are indices, or columns and rows; reports have the same shape, unless there are other reports. */
typedef struct { u64 shape[2], at; int axes; } Site;

static Site site_of(void) {
    Site made = {{0, 1}, 0, 0};
    u64 at[2] = {0, 0}, size;
    made.axes = pair("shape", made.shape);
    require(pair("input", at) == made.axes && at[0] < made.shape[0] && at[1] < made.shape[1]);
    require(made.shape[0] <= LARGEST_DOMAIN && made.shape[1] <= LARGEST_DOMAIN);
    size = refused ? 0 : made.shape[0] * made.shape[1];
    require(size >= 2 && size <= LARGEST_DOMAIN);
    if (refused) made.shape[0] = 2, made.shape[1] = 1;
    made.at = at[0] * made.shape[1] + at[1];
    return made;
}

static void put_site(const Site *site, u64 found, u64 outputs) {
    u64 larger = site->shape[0] > site->shape[1] ? site->shape[0] : site->shape[1];
    if (site->axes == 1) { put(found, index_bytes(outputs)); return; }
    put(found / site->shape[1], index_bytes(larger));
    put(found % site->shape[1], index_bytes(larger));
}

static void sites(const char *stage) {
    Site site = site_of();
    u64 size = site.shape[0] * site.shape[1];
    Round with = round_of("", size);
    (void)stage;
    if (is_allowed()) put_site(&site, respond(with, site.at), size);
}

static void rows_of_sites(const char *stage) {
    Site site = site_of();
    size_t columns;
    Words table = rows("rows", &columns);
    u64 size = site.shape[0] * site.shape[1];
    (void)stage;
    require(table.count == size * columns && (site.axes == 1 || columns == size));
    if (is_allowed()) put_site(&site, locate(little(take(8), 8), table.of + site.at * columns, 1, NULL), columns);
}

/* A table between whose rows a place is rounded by a word of 32 bits. */
static void table(const char *stage) {
    u64 grid = grid_of("", LARGEST_GRID), place = number("input", 0, grid), bins, row, drawn, scaled;
    size_t columns;
    Words law = rows("rows", &columns);
    (void)stage;
    bins = refused ? 1 : law.count / columns - 1;
    require(bins <= grid);
    if (!is_allowed()) return;
    drawn = little(take(8), 8); scaled = place * bins;
    row = scaled / grid + (little(take(4), 4) % grid < scaled % grid);
    put(locate(drawn, law.of + row * columns, 1, NULL), index_bytes(columns));
}

/* A square of likely cells around a place, or a disc that is as high as its reaches say, in the plane. */
static void planar(const char *stage) {
    u64 grid = grid_of("", (u64)1 << 15), cells = 2 * grid, widths[2] = {0, 0}, at[2] = {0, 0}, start[2], drawn, column, rest;
    u64 inside = word("inside"), outside = word("outside"), more = inside - outside, area;
    Words reaches = {NULL, 0};
    (void)stage;
    require(pair("widths", widths) == 2 && pair("input", at) == 2 && at[0] <= grid && at[1] <= grid);
    for (int i = 0; i < 2; i++) require(widths[i] >= 2 && widths[i] <= cells && widths[i] % 2 == 0);
    require(outside >= 1 && inside > outside);
    if (text("reaches")) {
        reaches = words("reaches");
        require(reaches.count == widths[0]);
        for (size_t i = 0; i < reaches.count; i++) require(reaches.of[i] <= widths[1] / 2);
    }
    if (refused) return;
    area = reaches.of ? 2 * (u64)sum(reaches.of, reaches.count) : widths[0] * widths[1];
    require(area >= 1 && area < cells * cells && (u128)area * more + (u128)(cells * cells) * outside == WORD);
    if (!is_allowed()) return;
    drawn = little(take(8), 8);
    if (drawn >= (u128)area * more) {
        drawn = (drawn - area * more) / outside;
        start[0] = drawn / cells; start[1] = drawn % cells;
    } else {
        for (int i = 0; i < 2; i++) {
            start[i] = 2 * at[i] < widths[i] / 2 ? 0 : 2 * at[i] - widths[i] / 2;
            if (start[i] > cells - widths[i]) start[i] = cells - widths[i];
        }
        drawn /= more;
        if (reaches.of) {
            column = locate(drawn, reaches.of, 2, &rest);
            start[1] += widths[1] / 2 - reaches.of[column];
        } else {
            column = drawn / widths[1]; rest = drawn % widths[1];
        }
        start[0] += column; start[1] += rest;
    }
    for (int i = 0; i < 2; i++) put(start[i], index_bytes(cells));
}

/* Two reports, each of a window or of a turned law; where they are directions, there is a public reference. */
static void two_parts(const char *stage) {
    static const char *prefixes[2] = {"first.", "second."};
    Window windows[2] = {{0}, {0}};
    Turned laws[2];
    u64 at[2] = {0, 0}, most = 0;
    int is_turned[2], length;
    char *reference = text("reference"), *end;
    (void)stage;
    for (int i = 0; i < 2; i++) {
        char *form = text(field(prefixes[i], "form"));
        is_turned[i] = form && !strcmp(form, "turned");
        require(form && (is_turned[i] || !strcmp(form, "window")));
        if (is_turned[i]) laws[i] = turned_of(prefixes[i]);
        else windows[i] = window_of(prefixes[i]);
        require(!windows[i].has_kept);
        u64 cells = is_turned[i] ? 2 * laws[i].grid : windows[i].cells;
        if (cells > most) most = cells;
    }
    for (int i = 0; reference && i < 2; i++, reference = end + 1) {
        double found = strtod(reference, &end);
        require(end > reference && *end == (i ? 0 : ',') && found > -1e300 && found < 1e300);
        if (refused) return;
    }
    require(pair("input", at) == 2);
    for (int i = 0; i < 2; i++) require(at[i] < (is_turned[i] ? laws[i].grid : windows[i].places));
    if (!is_allowed()) return;
    length = index_bytes(most);
    for (int i = 0; i < 2; i++) put(is_turned[i] ? turned_cell(&laws[i], at[i]) : window_cell(&windows[i], at[i]), length);
}

/* Bits for the d buckets that a device has chosen once; what it sends is what it keeps. */
static void bitflip(const char *stage) {
    u64 size = number("size", 2, LARGEST_DOMAIN), d = number("d", 1, size < LARGEST_DOMAIN ? size : size - 1);
    u64 thresholds[2], named = d < size ? d * index_bytes(size) : 0, bits = (d + 7) / 8, state = 0;
    int coins = !strcmp(stage, "coins"), instant = !strcmp(stage, "instant");
    uint8_t *kept = coins ? NULL : kept_bytes(instant ? "permanent" : "coins", named + bits), *chosen, *drawn;
    thresholds_of("own", "other", thresholds);
    if (!coins && !instant) state = number("input", 0, d < size ? d : d - 1);
    if (!is_allowed()) return;
    if (coins) {
        if (named) take(8); /* the coin of a subset, for a value that is never in it */
        if (named) put_list(choose(size + 1, d, size, 0), size);
        grow(bits);
        return;
    }
    memcpy(grow(named), kept, named);
    if (instant) { memcpy(grow(bits), kept + named, bits); return; }
    chosen = scratch(bits + 1); drawn = scratch(bits + 1);
    add(chosen, state);
    random_bits(thresholds, chosen, d + 1, drawn);
    drawn[d >> 3] &= (uint8_t)((1 << (d & 7)) - 1); /* the last stands for 'none of these' and is not sent */
    memcpy(grow(bits), drawn, bits);
}

const Form other_forms[] = {
    {"noise", noise}, {"turned", turned}, {"sites", sites}, {"rows", rows_of_sites}, {"table", table},
    {"planar", planar}, {"pair", two_parts}, {"bitflip", bitflip}, {NULL, NULL},
};
