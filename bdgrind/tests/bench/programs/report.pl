# SPDX-License-Identifier: GPL-2.0-or-later
# report.pl TEXT: hashes, regular expressions, sorting and string building over a text.
use strict;
use warnings;

my ($path) = @ARGV;
open(my $text, '<', $path) or die "report.pl: $path: $!\n";

my (%count_of, %followers_of, @long_lines);
my $vowel_runs = 0;
my $previous = '';
while (my $line = <$text>) {
    push @long_lines, $line if length($line) > 75;
    $vowel_runs++ while $line =~ /[aeiou]{2,}/g;
    for my $word (map { lc } $line =~ /([A-Za-z]+)/g) {
        $count_of{$word}++;
        $followers_of{$previous}{$word}++;
        $previous = $word;
    }
}
close($text);

my @by_count = sort { $count_of{$b} <=> $count_of{$a} || $a cmp $b } keys %count_of;
my $pairs = 0;
$pairs += keys %{$_} for values %followers_of;
my $joined = join ' ', map { scalar reverse } @by_count;
(my $squeezed = $joined) =~ s/([a-z])\1+/$1/g;

printf "%d words, %d pairs, %d long lines, %d runs of vowels, %d letters squeezed\n",
    scalar @by_count, $pairs, scalar @long_lines, $vowel_runs, length($joined) - length($squeezed);
printf "%s %d\n", $_, $count_of{$_} for @by_count[0 .. 4];
