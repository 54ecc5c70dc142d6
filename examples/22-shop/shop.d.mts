/** Opens the shop and returns what happened, line by line. */
export function openShop(): Promise<readonly string[]>;
