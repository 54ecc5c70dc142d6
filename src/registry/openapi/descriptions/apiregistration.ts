/** What the types of this package are for; see `meta.ts` for the notation. */
export const apiregistrationDescriptions = `
APIService A server of one group and version; its name is version and group with a dot between.
APIServiceSpec Where the server is and how it ranks.
 service The service in front of the server; absent: this server itself.
 group The group that it serves.
 version The version that it serves.
 insecureSkipTLSVerify The certificate of the server is not checked. Discouraged.
 caBundle Authorities in PEM that the server's certificate is checked against.
 groupPriorityMinimum How the group ranks among groups; higher comes first.
 versionPriority How the version ranks in its group; higher comes first, and it is more than 0.
APIServiceStatus Whether the server can be reached.
APIServiceCondition A statement about the server.
ServiceReference A service.
 namespace Its namespace.
 name Its name.
 port Its port; 443 unless said otherwise.
`;
