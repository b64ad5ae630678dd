/** Of a dialog that stays until what it sends is answered, or what it shows this once is kept: no way out but its buttons. */
export const lockedModal = (isLocked: boolean) => ({
  closeOnClickOutside: !isLocked,
  closeOnEscape: !isLocked,
  withCloseButton: !isLocked,
});
