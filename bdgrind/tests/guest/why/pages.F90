! SPDX-License-Identifier: GPL-2.0-or-later
!
! A row of a matrix with long columns: each element in another page; with -DREPAIRED, on huge pages.

program pages
    use iso_c_binding
    implicit none
    integer, parameter :: size = 520, columns = 4096
    real(8), allocatable, target :: matrix(:, :)
    integer :: step
    interface
        integer(c_int) function madvise(address, length, advice) bind(c)
            import :: c_int, c_size_t, c_intptr_t
            integer(c_intptr_t), value :: address
            integer(c_size_t), value :: length
            integer(c_int), value :: advice
        end function madvise
    end interface
    integer(c_intptr_t) :: where
    integer(c_int) :: status
    allocate(matrix(size, columns))
    where = transfer(c_loc(matrix), where)
    where = (where + 4095_c_intptr_t) / 4096 * 4096
#ifdef REPAIRED
    status = madvise(where, int(size, c_size_t) * columns * 8 - 8192, 14)
#else
    status = madvise(where, int(size, c_size_t) * columns * 8 - 8192, 15)
#endif
    do step = 1, 16
        call add(matrix, step)
    end do
    print *, matrix(1, columns / 2), status
contains
    subroutine add(matrix, row)
        real(8), intent(inout) :: matrix(:, :)
        integer, intent(in) :: row
        integer :: j
        do j = 1, columns
            matrix(1, j) = matrix(1, j) + row
        end do
    end subroutine add
end program pages
