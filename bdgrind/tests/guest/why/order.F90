! SPDX-License-Identifier: GPL-2.0-or-later
!
! Fortran's columns are what lies together, but the inner loop goes along rows; with -DREPAIRED, down columns.

program order
    implicit none
    integer, parameter :: size = 260
    real(8), allocatable :: field(:, :), change(:, :)
    allocate(field(size, size), change(size, size))
    field = 1d0
    change = 0.5d0
    call step(field, change)
    print *, field(size / 2, size / 3)
contains
    subroutine step(field, change)
        real(8), intent(inout) :: field(:, :)
        real(8), intent(in) :: change(:, :)
        integer :: i, j
#ifdef REPAIRED
        do j = 1, size
            do i = 1, size
                field(i, j) = field(i, j) + 0.1d0 * change(i, j)
            end do
        end do
#else
        do i = 1, size
            do j = 1, size
                field(i, j) = field(i, j) + 0.1d0 * change(i, j)
            end do
        end do
#endif
    end subroutine step
end program order
