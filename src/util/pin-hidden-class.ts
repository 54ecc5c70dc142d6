/**
 * Engines forget the form of objects of which there are none, and with it all the code that they have compiled for it. Of
 * classes whose objects come and go with a request there is none whenever memory is cleared between two requests; what ran
 * fast before is then found out and compiled anew. So of each of them one object stays.
 */
const kept: object[] = [];

/** Keeps an object for good; it should hold on to nothing, but have values of the usual types. */
export function pinHiddenClass(object: object): void {
  kept.push(object);
}
