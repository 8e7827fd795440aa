! SPDX-License-Identifier: GPL-2.0-or-later
!
! product.f90 with the innermost loop along a column.
program product
  implicit none
  integer, parameter :: n = 350
  real(8) :: a(n, n), b(n, n), c(n, n)
  integer :: i, j, k
  do j = 1, n
    do i = 1, n
      a(i, j) = i + j
      b(i, j) = i - j
      c(i, j) = 0
    end do
  end do
  do k = 1, n
    do j = 1, n
      do i = 1, n
        c(i, j) = c(i, j) + a(i, k) * b(k, j)
      end do
    end do
  end do
  print *, sum(c)
end program
