static inline int inlined(void) {
    return 42;
}
