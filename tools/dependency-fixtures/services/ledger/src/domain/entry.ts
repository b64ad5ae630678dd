// breaks: domain-is-pure
import type { Row } from '../store.ts';

export const idOf = (row: Row) => row.id;
