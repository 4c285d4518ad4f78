extension Right { struct PrivateField { private var secret: Secret } }
private struct Secret { var code: UInt }

private struct Same { var code: Int }
let sameThere: any Sendable.Type = Same.self
