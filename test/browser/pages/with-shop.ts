/** The shop of the examples: pods that run as functions in a page. */
import { openShop } from '../../../examples/22-shop/shop.mjs';
import { equal, type Scenarios } from './check.js';

export const inShop: Scenarios = {
  'runs Services, a CronJob, an autoscaler and a webhook as programs': async () => {
    equal(await openShop(), [
      'order 1 accepted',
      'order 2 accepted',
      'only 0 of cup left',
      'orders: order 1: 3 tea',
      'orders: order 2: 2 cup',
      'report: 2 orders, 5 items',
      'web servers in the rush hour: 5',
      'web servers ten minutes later: 1',
      'admission webhook "policy.shop.example.com" denied the request: container ads requests no CPU',
    ]);
  },
};
