/** What the types of this package are for; see `meta.ts` for the notation. */
export const certificatesDescriptions = `
ClusterTrustBundle Root certificates that others may trust.
ClusterTrustBundleSpec The certificates and who stands behind them.
 signerName The signer; the name of the object starts with it then.
 trustBundle The certificates in PEM: authorities only, each of them once.
CertificateSigningRequest Asks a signer for a certificate.
CertificateSigningRequestSpec The request and who makes it.
 request The request in PEM.
 signerName The signer.
 expirationSeconds How long the certificate should last.
 usages What the certificate is for.
 username,uid,groups,extra Who asks. Set by the server.
CertificateSigningRequestStatus What has become of the request.
 certificate The certificate in PEM.
CertificateSigningRequestCondition Approved, Denied or Failed.
`;
