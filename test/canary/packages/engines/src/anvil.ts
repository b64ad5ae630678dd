export const anvil = 1;
