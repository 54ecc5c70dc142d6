/** The script of the page whose cluster runs pods. */
import { run } from './check.js';
import { inShop } from './with-shop.js';

void run(inShop);
