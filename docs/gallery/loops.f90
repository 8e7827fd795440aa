! SPDX-License-Identifier: GPL-2.0-or-later
!
! Fortran stores columns one behind the other: a loop along a row uses 8 bytes of each line that it loads.
!   gfortran -O1 -g loops.f90 -o loops

module sums
  implicit none
contains
  function along_rows(a) result(total)
    real(8), intent(in) :: a(:, :)
    real(8) :: total
    integer :: i, j
    total = 0
    do i = 1, size(a, 1)
      do j = 1, size(a, 2)
        total = total + a(i, j)  ! guilty: j should be the outer loop
      end do
    end do
  end function

  function along_columns(a) result(total)
    real(8), intent(in) :: a(:, :)
    real(8) :: total
    integer :: i, j
    total = 0
    do j = 1, size(a, 2)
      do i = 1, size(a, 1)
        total = total + a(i, j)
      end do
    end do
  end function
end module

program loops
  use sums
  implicit none
  real(8), allocatable :: a(:, :)
  allocate(a(1000, 1000))
  a = 1
  print *, along_rows(a) + along_columns(a)
end program
