/* Line 1 of a small program for sources.out. */
#include "inline.h"

int main(void) {
	int sum = inlined();  // a tab, and 30 Ir
    sum += callee();      // 10 Ir and a call
    return sum;
}

/* Nothing here. */

/* Line 12 is the last. */
