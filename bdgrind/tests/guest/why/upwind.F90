! SPDX-License-Identifier: GPL-2.0-or-later
!
! An upwind step, whose inner loop has branches that the compiler places at its end, so that several jumps lead backward
! in it; its loops are in the wrong order. With -DREPAIRED, they are exchanged.

module upwind
    implicit none
    integer, parameter :: size = 76
    double precision :: heat(size, size), next(size, size), across(size, size), along(size, size)
contains
    subroutine work(width)
        double precision, intent(in) :: width
        double precision :: x, y
        integer :: i, j
#ifdef REPAIRED
        do j = 2, size - 1
            do i = 2, size - 1
#else
        do i = 2, size - 1
            do j = 2, size - 1
#endif
                x = merge(heat(i, j) - heat(i - 1, j), heat(i + 1, j) - heat(i, j), across(i, j) > 0) / width
                y = merge(heat(i, j) - heat(i, j - 1), heat(i, j + 1) - heat(i, j), along(i, j) > 0) / width
                next(i, j) = heat(i, j) - across(i, j) * x - along(i, j) * y
            end do
        end do
    end subroutine
end module

program main
    use upwind
    integer :: i, j
    do j = 1, size
        do i = 1, size
            heat(i, j) = i + j
            across(i, j) = i - size / 2 + 0.5d0
            along(i, j) = size / 2 - j + 0.5d0
        end do
    end do
    call work(2d0)
    call work(3d0)
    print *, next(size / 2, size / 3)
end program
