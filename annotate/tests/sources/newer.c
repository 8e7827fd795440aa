int callee(void) { return lost(); }
