! SPDX-License-Identifier: GPL-2.0-or-later
!
! A stream: all that is loaded is used, in order. There is nothing to repair.

program stream
    implicit none
    integer, parameter :: size = 60000
    real(8), allocatable :: left(:), right(:), sums(:)
    integer :: i, step
    allocate(left(size), right(size), sums(size))
    left = 1d0
    right = 2d0
    do step = 1, 5
        do i = 1, size
            sums(i) = left(i) + step * right(i)
        end do
    end do
    print *, sums(size / 2)
end program stream
