/* What client.c needs of whoever calls it: the fields of a form, random bytes, and room for a report. */
#include <stddef.h>
#include <stdint.h>

typedef uint64_t u64;
typedef unsigned __int128 u128;
#define WORD ((u128)1 << 64)

extern int refused;                                     /* set where a form or an input must be refused */
void require(int holds);                                /* refuses unless something holds */
char *text(const char *name);                           /* a field as it is written, or NULL */
u64 word(const char *name);                             /* decimal digits below 2^64, or refused */
u64 number(const char *name, u64 least, u64 most);      /* the same within limits */
int pair(const char *name, u64 *to);                    /* one number, or two with a comma */
uint8_t *kept_bytes(const char *name, size_t size);     /* what a device has kept: coins, a permanent report */
int is_allowed(void);                                   /* no field is left that nobody asked for */
uint8_t *take(size_t size);                             /* the next random bytes */
u64 little(const uint8_t *from, int size);              /* a little-endian integer */
uint8_t *grow(size_t size);                             /* zeros at the end of the report */
void put(u64 value, int size);                          /* a little-endian integer at its end */

int draw(const char *form, const char *stage);          /* client.c: makes a report; 0 if it has no such form */
