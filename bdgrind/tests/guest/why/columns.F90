! SPDX-License-Identifier: GPL-2.0-or-later
!
! Seven columns a power of two apart, read side by side; with -DREPAIRED, a line further.

program columns
    implicit none
    integer, parameter :: size = 2048
#ifdef REPAIRED
    integer, parameter :: distance = size + 8
#else
    integer, parameter :: distance = size
#endif
    real(8) :: table(distance, 7), sums(size)
    integer :: step
    table = 1d0
    sums = 0d0
    do step = 1, 10
        call add(sums, table)
    end do
    print *, sums(size / 2)
contains
    subroutine add(sums, table)
        real(8), intent(inout) :: sums(size)
        real(8), intent(in) :: table(distance, 7)
        integer :: i
        do i = 1, size
            sums(i) = sums(i) + table(i, 1) + table(i, 2) * table(i, 3) + table(i, 4) * table(i, 5) &
                + table(i, 6) * table(i, 7)
        end do
    end subroutine add
end program columns
