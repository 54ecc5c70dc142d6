/**
 * The types that objects of the group are made of, by the names of the API.
 */
export type { Subject, SubjectInput } from './v1/binding.js';
