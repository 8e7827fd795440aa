# SPDX-License-Identifier: GPL-2.0-or-later
#
# Builds the unit tests of the mutated copy of the sources, in that copy's folder: make -f mutation.mk SOURCES='...'
# Library checks find what would else be read behind the end of something; so the tests need not run sanitized.

CPPFLAGS += -I. -include tests/mutation/mutate.h -Itests/mutation -DBD_DEBUG -D_GLIBCXX_ASSERTIONS
CXXFLAGS += -std=c++20 -O1 -w -Wno-narrowing
OBJECTS = $(SOURCES:.cpp=.o)

unit_tests: $(OBJECTS)
	$(CXX) -o $@ $^ -lgtest -lpthread

%.o: %.cpp
	$(CXX) $(CPPFLAGS) $(CXXFLAGS) -MMD -c -o $@ $<

-include $(OBJECTS:.o=.d)
