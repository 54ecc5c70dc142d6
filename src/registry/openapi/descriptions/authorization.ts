/** What the types of this package are for; see `meta.ts` for the notation. */
export const authorizationDescriptions = `
SubjectAccessReview Asks whether somebody may do something.
SelfSubjectAccessReview Asks whether the caller may do something.
LocalSubjectAccessReview Asks whether somebody may do something in one namespace.
SelfSubjectRulesReview Asks what the caller may do in a namespace.
SelfSubjectRulesReviewSpec The question.
 namespace The namespace.
SubjectAccessReviewSpec,SelfSubjectAccessReviewSpec The question: about a resource, or about a path.
 resourceAttributes What is to be done to which resource.
 nonResourceAttributes What is to be done to which path.
 user The user.
 groups The groups of the user.
 extra Whatever else is known of the user.
 uid The uid of the user.
SubjectAccessReviewStatus The answer.
 allowed Whether it is allowed.
 denied Whether it is forbidden for good.
 reason Why.
 evaluationError What went wrong on the way.
SubjectRulesReviewStatus The answer.
 resourceRules Rights on resources.
 nonResourceRules Rights on paths.
 incomplete Whether there may be more.
 evaluationError What went wrong on the way.
ResourceAttributes A request for a resource.
 namespace The namespace; empty for none or all.
 group The group; * is all.
 version The version; * is all.
 resource The resource; * is all.
 subresource The subresource.
 name The name of the object; empty is all.
 fieldSelector What a list is narrowed to, by fields.
 labelSelector What a list is narrowed to, by labels.
NonResourceAttributes A request for a path.
 path The path.
FieldSelectorAttributes,LabelSelectorAttributes A selector.
 rawSelector The selector as text.
 requirements The selector in parts.
ResourceRule Verbs on resources.
 apiGroups The groups of the resources.
 resources The resources.
 resourceNames The names of the objects; empty is all.
NonResourceRule Verbs on paths.
 nonResourceURLs The paths.
*
 verb What is to be done.
 verbs What may be done.
`;
