// breaks: tests-are-imported-by-nobody
import { aPayout } from '../domain/payout.test.ts';

export const borrow = aPayout;
