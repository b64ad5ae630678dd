export const invariants = [];
