@main struct Retint { static func main() {} }
