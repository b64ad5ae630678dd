// breaks: domain-is-given-its-quote
import { watchQuotes } from '@quittance/shared/quotes';

export const price = watchQuotes;
