/** Opens the shop in Node. test/browser opens it in a page. */
import { openShop } from './shop.mjs';

for (const line of await openShop()) console.log(line);
