// breaks: main-is-the-top
import './main.ts';
