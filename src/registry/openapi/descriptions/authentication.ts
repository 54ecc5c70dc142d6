/** What the types of this package are for; see `meta.ts` for the notation. */
export const authenticationDescriptions = `
TokenReview Asks who is behind a token.
TokenReviewSpec The token.
 token The token.
 audiences For whom it must be.
TokenReviewStatus The answer.
 authenticated Whether the token is good.
 user Who it is.
 error Why it could not be looked at.
 audiences Audiences that fit both sides.
TokenRequest Asks for a token of an account.
TokenRequestSpec The token that is wanted.
 audiences For whom it is.
 expirationSeconds How long it should last.
 boundObjectRef An object with which it ends.
TokenRequestStatus The token.
 token The token.
 expirationTimestamp When it ends.
BoundObjectReference An object that a token depends on.
 kind Pod, Secret or Node.
 apiVersion The group and version of its kind.
 name The name of the object.
 uid Its uid.
SelfSubjectReview Asks who the caller is.
SelfSubjectReviewStatus The answer.
 userInfo Who it is.
UserInfo A user.
 username The name.
 uid What tells the user from others of the name.
 groups The groups.
 extra Whatever else is known.
`;
