import type { Language } from '../page-language.ts';
import { ar } from './ar.ts';
import { de } from './de.ts';
import { en, type PageTexts } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { it } from './it.ts';
import { ja } from './ja.ts';
import { pt } from './pt.ts';
import { ru } from './ru.ts';
import { zh } from './zh.ts';

const all = { en, de, es, fr, it, pt, ru, zh, ja, ar } as const satisfies Record<Language, PageTexts>;

/** The texts of the pages for customers in a language. */
export const textsOf = (language: Language): PageTexts => all[language];
