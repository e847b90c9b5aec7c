import Retint

/// Numbers as people read them.
package typealias Format = Reports.Format
