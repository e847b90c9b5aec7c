/// The version of retint: what `retint --version` prints and what packages and reports name.
///
/// It stands only here. Scripts read it from this line; `Scripts/check version` compares it with
/// the changelog.
public let retintVersion = "0.1.0"
