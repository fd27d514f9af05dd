/* What the parts of the client share: whoever calls it gives fields, random bytes and room for a report. */
#include <stddef.h>
#include <stdint.h>

typedef uint64_t u64;
typedef unsigned __int128 u128;
#define WORD ((u128)1 << 64)
#define LARGEST_DOMAIN ((u64)1 << 26)
#define LARGEST_GRID ((u64)1 << 30)

/* lines.c: the fields of a form, and bytes. Fields that are not as they must be are refused. */
typedef struct { u64 *of; size_t count; } Words;
extern int refused;                                     /* set where a form or an input must be refused */
void require(int holds);                                /* refuses unless something holds */
char *text(const char *name);                           /* a field as it is written, or NULL */
u64 word(const char *name);                             /* decimal digits below 2^64, or refused */
u64 number(const char *name, u64 least, u64 most);      /* the same within limits */
int pair(const char *name, u64 *to);                    /* one number, or two with a comma */
Words words(const char *name);                          /* numbers with commas; all together at most 4096 */
Words rows(const char *name, size_t *columns);          /* rows of one length with semicolons, each of sum 2^64 */
uint8_t *kept_bytes(const char *name, size_t size);     /* what a device has kept: coins, a permanent report */
int is_allowed(void);                                   /* whether all is right, and no field is left over */
uint8_t *take(size_t size);                             /* the next random bytes */
u64 little(const uint8_t *from, int size);              /* a little-endian integer */
uint8_t *scratch(size_t size);                          /* zeros that last until the report is made */
uint8_t *grow(size_t size);                             /* zeros at the end of the report */
void put(u64 value, int size);                          /* a little-endian integer at its end */

/* client.c: the forms that most questions need, and what the others have in common with them. */
typedef struct { u64 keep, width; } Round;
typedef struct { u64 grid, width, margin, inside, outside, cells, places, kept[2]; int slide, wrap, sector, has_kept; } Window;
typedef struct { const char *name; void (*draw)(const char *stage); } Form;
const char *field(const char *prefix, const char *name);
int index_bytes(u64 outputs);
u64 grid_of(const char *prefix, u64 most);
Round round_of(const char *prefix, u64 size);
u64 respond(Round with, u64 value);
void thresholds_of(const char *more, const char *less, u64 *to);
void random_bits(const u64 *thresholds, const uint8_t *chosen, u64 size, uint8_t *to);
int has(const uint8_t *set, u64 place);
void add(uint8_t *set, u64 place);
uint8_t *choose(u64 size, u64 omega, u64 own, int held);
void put_list(const uint8_t *set, u64 size);
Window window_of(const char *prefix);
u64 window_cell(const Window *window, u64 place);
int draw(const char *form, const char *stage);          /* makes a report; 0 if there is no such form */

/* forms.c: noise, tables, locations and dBitFlipPM. */
extern const Form other_forms[];
