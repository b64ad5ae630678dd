import type { Quote } from '@quittance/shared/quotes';

export const worth = (quote: Quote) => quote;
