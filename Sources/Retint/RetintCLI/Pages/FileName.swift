import Foundation

extension String {
    /// A path's last part, for the titles and headings of pages: a page may be shown to people who
    /// do not have the folder.
    var fileName: String { URL(fileURLWithPath: self).lastPathComponent }
}
