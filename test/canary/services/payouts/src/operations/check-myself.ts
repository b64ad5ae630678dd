// breaks: books-are-the-auditors
import { invariants } from '../../../../packages/books/src/invariants.ts';

export const mine = invariants;
